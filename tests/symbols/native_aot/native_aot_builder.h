#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/builders/byte_writer.h"

namespace mixwalk::test {

// Writes the metadata and the map of methods of a NativeAOT program, from the description of the formats.
class NativeAotBuilder {
 public:
  enum Kind : std::uint32_t {
    array = 0x01, by_reference = 0x02, method_variable = 0x2C, namespace_definition = 0x2F,
    namespace_reference = 0x30, pointer = 0x32, vector = 0x37, scope = 0x38, type_definition = 0x3A,
    instantiation = 0x3C, type_reference = 0x3D, specification = 0x3E, type_variable = 0x3F,
  };
  struct Handle {
    std::uint32_t kind = 0, offset = 0;
  };

  // The metadata has one assembly, which is written by assembly().
  explicit NativeAotBuilder(unsigned kind_bits = 7) : kind_bits_(kind_bits) {
    metadata_.u32(0xDEADDFFD);
    number(metadata_, 1);
    metadata_.u8(15).u32(0);
  }

  static void number(ByteWriter& to, std::uint32_t value) {
    if (value < 1u << 7) {
      to.u8(value << 1);
    } else if (value < 1u << 14) {
      to.u16(value << 2 | 1);
    } else if (value < 1u << 21) {
      to.u16((value << 3 | 3) & 0xFFFF).u8(value >> 13);
    } else if (value < 1u << 28) {
      to.u32(value << 4 | 7);
    } else {
      to.u8(15).u32(value);
    }
  }
  std::uint32_t text(std::string_view text) {
    const std::uint32_t at = here();
    number(metadata_, static_cast<std::uint32_t>(text.size()));
    for (const char c : text) metadata_.u8(static_cast<unsigned char>(c));
    return at;
  }
  // A record of handles and numbers; a handle without a kind is written as its offset alone.
  Handle record(Kind kind, const std::vector<Handle>& fields) {
    const Handle made{kind, here()};
    for (const Handle& field : fields) {
      number(metadata_, field.kind == 0 ? field.offset : field.offset << kind_bits_ | field.kind);
    }
    return made;
  }
  Handle space(std::string_view name) { return space(name, {scope, 1}); }
  Handle space(std::string_view name, Handle parent) {
    const std::uint32_t own = text(name);
    return record(namespace_definition, {parent, {0, own}});
  }
  Handle type(std::string_view name, Handle space) { return type(name, space, Handle()); }
  Handle type(std::string_view name, Handle space, Handle outer) {
    const std::uint32_t own = text(name);
    return record(type_definition, {{0, 1}, {0, 0}, {0, space.offset}, {0, own}, {0, 0}, {0, 0}, {0, outer.offset}});
  }
  Handle reference(std::string_view name, Handle outer) {
    const std::uint32_t own = text(name);
    return record(type_reference, {outer, {0, own}});
  }
  std::uint32_t signature(const std::vector<Handle>& parameters) {
    std::vector<Handle> fields = {{0, 0}, {0, 0}, {0, 0}, {0, static_cast<std::uint32_t>(parameters.size())}};
    fields.insert(fields.end(), parameters.begin(), parameters.end());
    return record(scope, fields).offset;
  }
  std::uint32_t arguments(const std::vector<std::string>& names) {
    std::vector<Handle> fields = {{0, static_cast<std::uint32_t>(names.size())}};
    for (const std::string& name : names) fields.push_back({0x1A, text(name)});
    return record(scope, fields).offset;
  }

  static constexpr std::uint32_t kPublic = 6, kStatic = 0x10;  // MethodAttributes
  // The record of a method that a type lists.
  std::uint32_t method_record(std::string_view name, std::uint32_t signature, std::uint32_t attributes = kPublic) {
    const std::uint32_t own = text(name);
    return record(scope, {{0, attributes}, {0, 0}, {0, own}, {0, signature}}).offset;
  }
  // A type of the system that is in another assembly, to be the base of others.
  Handle system_type(std::string_view name) {
    const std::uint32_t system = text("System");
    return reference(name, record(namespace_reference, {{0x39, 1}, {0, system}}));
  }
  // A type that lists its methods and the types in it.
  Handle type_with(std::string_view name, Handle space, const std::vector<std::uint32_t>& methods,
                   const std::vector<Handle>& nested = {}) {
    return type_with(name, space, methods, nested, Handle());
  }
  Handle type_with(std::string_view name, Handle space, const std::vector<std::uint32_t>& methods,
                   const std::vector<Handle>& nested, Handle base) {
    const std::uint32_t own = text(name);
    std::vector<Handle> fields = {{0, 1}, base, {0, space.offset}, {0, own}, {0, 0}, {0, 0}, {0, 0}};
    fields.push_back({0, static_cast<std::uint32_t>(nested.size())});
    for (const Handle& inner : nested) fields.push_back({0, inner.offset});
    fields.push_back({0, static_cast<std::uint32_t>(methods.size())});
    for (const std::uint32_t method : methods) fields.push_back({0, method});
    return record(type_definition, fields);
  }
  // The assembly, and its root namespace with these types.
  void assembly(std::string_view name, const std::vector<Handle>& types) {
    constexpr std::size_t kFirstAssembly = 6;  // the number behind the signature, the count and its own first byte
    const std::uint32_t own = text(name);
    std::vector<Handle> fields = {{scope, 1}, {0, 0}, {0, static_cast<std::uint32_t>(types.size())}};
    for (const Handle& type : types) fields.push_back({0, type.offset});
    fields.insert(fields.end(), {{0, 0}, {0, 0}});
    const Handle root = record(namespace_definition, fields);
    const std::vector<Handle> values = {{0, 0}, {0, own}, {0, 0}, {0, 1}, {0, 0}, {0, 0},
                                        {0, 0}, {0, 0},   {0, 0}, {0, root.offset}};
    metadata_.set32(kFirstAssembly, record(scope, values).offset);
  }
  std::uint32_t handle_number(Handle handle) const { return handle.kind << (32 - kind_bits_) | handle.offset; }

  // A hash table of one bucket, whose entries are these numbers.
  static std::vector<std::byte> table(const std::vector<std::vector<std::uint32_t>>& entries) {
    constexpr std::uint32_t kOffsets = 8, kEntryBytes = 6;  // the hash, and a number of five bytes
    ByteWriter head, rows, payloads;
    head.u8(2).u32(kOffsets).u32(kOffsets + kEntryBytes * static_cast<std::uint32_t>(entries.size()));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::size_t behind_rows = kEntryBytes * (entries.size() - i) - 1;
      rows.u8(i).u8(15).u32(behind_rows + payloads.size());
      for (const std::uint32_t value : entries[i]) number(payloads, value);
    }
    return head.append(rows.bytes()).append(payloads.bytes()).bytes();
  }

  // Adds a method whose type, name and signature are all written. `rva` is relative to the first entry.
  void method(std::int32_t rva, Handle type, std::uint32_t name, std::uint32_t signature, std::uint32_t arguments = 0) {
    map_.u8(1 | 2 | (arguments == 0 ? 4 : 8)).u32(handle_number(type));
    number(map_, name);
    number(map_, signature);
    if (arguments != 0) number(map_, arguments);
    place(rva);
  }
  // Adds a method that differs from the one before it by its place only.
  void again(std::int32_t rva) {
    map_.u8(0);
    place(rva);
  }

  const std::vector<std::byte>& metadata() const { return metadata_.bytes(); }
  std::vector<std::byte> map() const { return ByteWriter().u32(count_).append(map_.bytes()).bytes(); }

 private:
  std::uint32_t here() const { return static_cast<std::uint32_t>(metadata_.size()); }
  void place(std::int32_t rva) {
    map_.u32(static_cast<std::uint32_t>(rva - static_cast<std::int32_t>(map_.size())));
    ++count_;
  }

  unsigned kind_bits_;
  ByteWriter metadata_, map_;
  std::uint32_t count_ = 0;
};

// The tables of a program that reflection may call into.
struct ReflectionSample {
  std::vector<std::byte> metadata, types, methods, references;
};
// Program.Main at 0x1500; Money.Amount, of a value type, at 0x1510; Items.Add, of a generic type, at 0x1520; two
// methods with the same code at 0x1530; one of two equal methods of two types at 0x1540; one of a generic type of two
// that have an equal one at 0x1550. The references are at `references_rva`.
inline ReflectionSample sample_reflection(std::uint32_t references_rva, unsigned kind_bits) {
  using B = NativeAotBuilder;
  B to(kind_bits);
  const B::Handle space = to.space("Shop", {B::scope, 1});
  const std::uint32_t plain = to.signature({});
  const std::uint32_t main = to.method_record("Main", plain), amount = to.method_record("Amount", plain),
                      add = to.method_record("Add", plain), close = to.method_record("Close", plain),
                      equal = to.method_record(".ctor", plain);
  const B::Handle inner = to.type_with("Inner", {}, {main});
  const B::Handle program = to.type_with("Program", space, {main, close, equal}, {inner});
  const B::Handle money = to.type_with("Money", space, {amount, equal}, {}, to.system_type("ValueType"));
  const B::Handle items = to.type_with("Items`1", space, {add});
  to.assembly("Orders", {program, money, items});
  constexpr std::uint32_t kCode = 0x20, kProgram = 6, kMoney = 7, kOther = 8;  // flags; numbers of references
  ByteWriter references;
  for (std::uint32_t i = 0; i < 6; ++i) references.u32(0x1500 + 0x10 * i - (references_rva + 4 * i));
  return {to.metadata(), B::table({{kProgram, to.handle_number(program)}, {kMoney, to.handle_number(money)}}),
          B::table({{kCode, main, kProgram, 0},
                    {kCode, amount, kMoney, 1},
                    {kCode, add, kOther, 2},
                    {kCode, main, kProgram, 3},
                    {kCode, close, kProgram, 3},
                    {kCode, equal, kMoney, 4},
                    {kCode, equal, kOther, 5},
                    {0, close, kProgram}}),
          references.bytes()};
}

// Methods at 0x1000 and so on, of Orders.Client`1 and of types in it.
inline NativeAotBuilder sample_native_aot(std::uint32_t map_rva, unsigned kind_bits) {
  NativeAotBuilder to(kind_bits);
  using B = NativeAotBuilder;
  const auto at = [=](std::int32_t rva) { return rva - static_cast<std::int32_t>(map_rva) - 4; };
  const B::Handle client = to.type("Client`1", to.space("Orders", to.space("Company")));
  const std::uint32_t system_name = to.text("System");
  const B::Handle system = to.record(B::namespace_reference, {{0x39, 1}, {0, system_name}});
  const B::Handle number = to.reference("Int32", system), list = to.reference("List`1", system);
  const B::Handle variable = to.record(B::type_variable, {{0, 0}});
  const B::Handle of_method = to.record(B::method_variable, {{0, 0}});
  const B::Handle numbers = to.record(B::vector, {number}), reference = to.record(B::by_reference, {numbers});
  const B::Handle lists = to.record(B::specification, {to.record(B::instantiation, {list, {0, 1}, number})});
  const B::Handle table = to.record(B::array, {number, {0, 2}});
  to.method(at(0x1000), client, to.text("Add"), to.signature({variable, reference, lists, table}));
  to.again(at(0x1100));
  to.method(at(0x1200), to.type("<>c", {}, client), to.text("<Main>b__0"), to.signature({}));
  to.method(at(0x1300), client, to.text("Map"), to.signature({of_method}), to.arguments({"TKey", "TValue"}));
  to.method(at(0x1400), {}, 0, 0);  // hidden from stack traces
  return to;
}

}  // namespace mixwalk::test
