#include "symbols/native_aot/native_metadata.h"

#include <algorithm>

#include "symbols/byte_cursor.h"
#include "symbols/clr_name.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kSignature = 0xDEADDFFD;
// The limits for types in types, for texts and names in bytes, and for elements of one list. No compiler exceeds them.
constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxText = 4096;
constexpr std::uint32_t kMaxElements = 1024;

// The kinds of records that names need (HandleType).
enum Kind : std::uint32_t {
  kArray = 0x01,
  kByReference = 0x02,
  kFunctionPointer = 0x25,
  kMethodVariable = 0x2C,
  kModified = 0x2D,
  kNamespaceDefinition = 0x2F,
  kNamespaceReference = 0x30,
  kPointer = 0x32,
  kVector = 0x37,
  kTypeDefinition = 0x3A,
  kTypeInstantiation = 0x3C,
  kTypeReference = 0x3D,
  kTypeSpecification = 0x3E,
  kTypeVariable = 0x3F,
};

struct Damaged {};

}  // namespace

std::optional<std::uint32_t> NativeMetadata::read_number(std::span<const std::byte> bytes, std::size_t& at) noexcept {
  ByteCursor cursor(at <= bytes.size() ? bytes.subspan(at) : std::span<const std::byte>());
  const std::uint8_t first = cursor.u8();
  int more = 0;
  while (more < 4 && (first >> more & 1) != 0) ++more;
  if (more == 4 && (first & 0x10) != 0) return std::nullopt;  // a number of 64 bits
  std::uint32_t value = 0;
  if (more == 4) {
    value = cursor.u32();
  } else {
    value = first >> (more + 1);
    for (int i = 0; i < more; ++i) value |= std::uint32_t{cursor.u8()} << (7 - more + 8 * i);
  }
  if (cursor.failed()) return std::nullopt;
  at += cursor.at();
  return value;
}

class NativeMetadata::Record {
 public:
  // Throws Damaged, as all reads do.
  Record(const NativeMetadata& metadata, std::uint32_t offset)
      : blob_(metadata.blob_), kind_bits_(metadata.kind_bits_), at_(offset) {
    if (offset == 0 || offset >= blob_.size()) throw Damaged{};
  }
  std::uint32_t number() {
    const auto value = read_number(blob_, at_);
    if (!value) throw Damaged{};
    return *value;
  }
  Handle handle() {
    const std::uint32_t value = number();
    return {value & ((1u << kind_bits_) - 1), value >> kind_bits_};
  }
  std::uint32_t count() {
    const std::uint32_t count = number();
    if (count > kMaxElements) throw Damaged{};
    return count;
  }
  void skip_byte() { ++at_; }
  std::string_view bytes(std::size_t count) {
    if (at_ > blob_.size() || count > blob_.size() - at_ || count > kMaxText) throw Damaged{};
    return {reinterpret_cast<const char*>(blob_.data()) + at_, count};
  }

 private:
  std::span<const std::byte> blob_;
  unsigned kind_bits_;
  std::size_t at_;
};

bool NativeMetadata::is_valid() const noexcept { return ByteCursor(blob_).u32() == kSignature; }

std::string NativeMetadata::text_at(std::uint32_t offset) const {
  Record record(*this, offset);
  const std::uint32_t length = record.number();
  return std::string(record.bytes(length));
}

// A namespace's parent is another one, or an assembly.
std::string NativeMetadata::namespace_at(Handle handle, std::uint32_t kind, int depth) const {
  if (handle.kind != kind || handle.offset == 0) return {};
  if (depth > kMaxDepth) throw Damaged{};
  Record record(*this, handle.offset);
  const Handle parent = record.handle();
  const std::uint32_t name = record.number();
  const std::string outer = namespace_at(parent, kind, depth + 1), own = name == 0 ? "" : text_at(name);
  return outer.empty() || own.empty() ? outer + own : outer + '.' + own;
}

std::string NativeMetadata::types_in(Record& record, const std::vector<std::string>& method_arguments,
                                     std::string_view separator, int depth) const {
  std::string text;
  for (std::uint32_t i = 0, count = record.count(); i < count; ++i) {
    if (i != 0) text += separator;
    text += type_at(record.handle(), method_arguments, depth + 1);
    if (text.size() > kMaxText) throw Damaged{};
  }
  return text;
}

std::string NativeMetadata::type_at(Handle handle, const std::vector<std::string>& arguments, int depth) const {
  if (depth > kMaxDepth) throw Damaged{};
  Record record(*this, handle.offset);
  const auto inner = [&] { return type_at(record.handle(), arguments, depth + 1); };
  const auto in_space = [](const std::string& space, const std::string& name) {
    return space.empty() ? name : space + '.' + name;
  };
  switch (handle.kind) {
    case kTypeDefinition: {
      record.number();  // flags
      record.handle();  // base
      const Handle space{kNamespaceDefinition, record.number()};
      const std::string name = with_arguments(text_at(record.number()), {});
      record.number();  // size
      record.number();  // packing
      const Handle outer{kTypeDefinition, record.number()};
      if (outer.offset != 0) return type_at(outer, arguments, depth + 1) + '+' + name;
      return in_space(namespace_at(space, kNamespaceDefinition, 0), name);
    }
    case kTypeReference: {
      const Handle outer = record.handle();
      const std::string name = with_arguments(text_at(record.number()), {});
      if (outer.kind == kTypeReference) return type_at(outer, arguments, depth + 1) + '+' + name;
      return in_space(namespace_at(outer, kNamespaceReference, 0), name);
    }
    case kTypeSpecification: return inner();
    case kTypeInstantiation: {
      const std::string name = inner();
      return name + '<' + types_in(record, arguments, ",", depth) + '>';
    }
    case kVector: return inner() + "[]";
    case kArray: {
      const std::string element = inner();
      return element + '[' + std::string(std::clamp(record.number(), 1u, 32u) - 1, ',') + ']';
    }
    case kByReference: return "ref " + inner();
    case kPointer: return inner() + '*';
    case kTypeVariable: return '!' + std::to_string(record.number());
    case kMethodVariable: {
      const std::uint32_t number = record.number();
      return number < arguments.size() ? arguments[number] : "!!" + std::to_string(number);
    }
    case kModified:
      record.skip_byte();  // whether the modifier is optional
      record.handle();
      return inner();
    case kFunctionPointer: return "method()";
    default: throw Damaged{};
  }
}

std::string NativeMetadata::name_of(const Method& method) const {
  try {
    std::vector<std::string> arguments;
    const unsigned offset_bits = 32 - kind_bits_;
    const Handle type{method.type >> offset_bits, method.type & ((1u << offset_bits) - 1)};
    std::string text = type_at(type, {}, 0) + '.' + text_at(method.name);
    if (method.arguments != 0) {
      Record record(*this, method.arguments);
      for (std::uint32_t i = 0, count = record.count(); i < count; ++i) {
        arguments.push_back(text_at(record.handle().offset));
        text += (i == 0 ? '<' : ',') + arguments.back();
      }
      if (!arguments.empty()) text += '>';
    }
    Record record(*this, method.signature);
    record.number();  // calling convention
    record.number();  // how many type parameters
    record.handle();  // what it returns
    text += '(' + types_in(record, arguments, ", ", 0) + ')';
    return text.size() > kMaxText ? std::string() : text;
  } catch (const Damaged&) {
    return {};
  }
}

}  // namespace mixwalk
