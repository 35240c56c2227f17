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

// The limit for types, namespaces and methods together, of which a program of some 100 MB has 200,000.
constexpr std::size_t kMaxRecords = 1 << 22;

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
  // The offsets of a list of records of one kind.
  std::vector<std::uint32_t> offsets() {
    const std::uint32_t count = number();
    if (count > blob_.size()) throw Damaged{};  // each one has at least a byte
    std::vector<std::uint32_t> offsets(count);
    for (std::uint32_t& offset : offsets) offset = number();
    return offsets;
  }
  void skip_byte() { ++at_; }
  std::string_view bytes(std::size_t count) {
    if (at_ > blob_.size() || count > blob_.size() - at_ || count > kMaxText) throw Damaged{};
    const std::string_view bytes(reinterpret_cast<const char*>(blob_.data()) + at_, count);
    at_ += count;
    return bytes;
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

// Visits all types of all assemblies. Throws Damaged.
class NativeMetadata::TypeWalk {
 public:
  explicit TypeWalk(const NativeMetadata& metadata) : metadata_(metadata) {}

  void assemblies() {
    Record all(metadata_, sizeof kSignature);
    for (const std::uint32_t offset : list(all)) {
      Record record(metadata_, offset);
      for (int i = 0; i < 7; ++i) record.number();  // flags, name, kind of hash, four numbers of the version
      record.bytes(record.number());                // public key
      record.number();                              // culture
      in_namespace(record.number(), 0);
    }
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> methods;

 private:
  std::vector<std::uint32_t> list(Record& record) {
    std::vector<std::uint32_t> offsets = record.offsets();
    listed_ += offsets.size();
    if (listed_ > kMaxRecords) throw Damaged{};
    return offsets;
  }
  void in_namespace(std::uint32_t offset, int depth) {
    if (depth > kMaxDepth) throw Damaged{};
    Record record(metadata_, offset);
    record.number();  // parent
    record.number();  // name
    for (const std::uint32_t type : list(record)) in_type(type, 0);
    list(record);  // types that are in another assembly
    for (const std::uint32_t inner : list(record)) in_namespace(inner, depth + 1);
  }
  void in_type(std::uint32_t offset, int depth) {
    if (depth > kMaxDepth) throw Damaged{};
    Record record(metadata_, offset);
    for (int i = 0; i < 7; ++i) record.number();  // flags, base, namespace, name, size, packing, enclosing type
    const std::vector<std::uint32_t> nested = list(record);
    const std::uint32_t handle = kTypeDefinition << metadata_.offset_bits() | offset;
    for (const std::uint32_t method : list(record)) methods.emplace_back(method, handle);
    for (const std::uint32_t inner : nested) in_type(inner, depth + 1);
  }

  const NativeMetadata& metadata_;
  std::size_t listed_ = 0;
};

NativeMetadata::DeclaredMethods NativeMetadata::methods_of_types() const {
  TypeWalk walk(*this);
  bool cut = false;
  try {
    walk.assemblies();
  } catch (const Damaged&) {
    cut = true;  // what was found before the damage stays
  }
  std::ranges::sort(walk.methods);
  return {std::move(walk.methods), cut};
}

std::optional<NativeMetadata::Method> NativeMetadata::method_at(std::uint32_t offset,
                                                                std::uint32_t type) const noexcept {
  try {
    Record record(*this, offset);
    record.number();  // flags
    record.number();  // flags of the code
    Method method{.type = type};
    method.name = record.number();
    method.signature = record.number();
    return method;
  } catch (const Damaged&) {
    return std::nullopt;
  }
}

// System.Enum is a class, although its base is System.ValueType.
bool NativeMetadata::is_of_value(std::uint32_t method, std::uint32_t type) const {
  constexpr std::uint32_t kStatic = 0x10;  // MethodAttributes
  constexpr std::string_view kEnum = "System.Enum";
  try {
    const Handle handle = handle_of(type);
    if (handle.kind != kTypeDefinition || (Record(*this, method).number() & kStatic) != 0) return false;
    Record record(*this, handle.offset);
    record.number();  // flags
    const Handle base = record.handle();
    if (base.offset == 0) return false;
    const std::string name = type_at(base, {}, 0);
    return name == kEnum || (name == "System.ValueType" && type_at(handle, {}, 0) != kEnum);
  } catch (const Damaged&) {
    return false;
  }
}

std::string NativeMetadata::name_of(const Method& method) const {
  try {
    std::vector<std::string> arguments;
    std::string text = type_at(handle_of(method.type), {}, 0) + '.' + text_at(method.name);
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
