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

  explicit NativeAotBuilder(unsigned kind_bits = 7) : kind_bits_(kind_bits) { metadata_.u32(0xDEADDFFD); }

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

  // Adds a method whose type, name and signature are all written. `rva` is relative to the first entry.
  void method(std::int32_t rva, Handle type, std::uint32_t name, std::uint32_t signature, std::uint32_t arguments = 0) {
    map_.u8(1 | 2 | (arguments == 0 ? 4 : 8)).u32(type.kind << (32 - kind_bits_) | type.offset);
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
