#include "tests/builders/runtime_builder.h"

namespace mixwalk::test {
namespace {

// Where RuntimeBuilder puts each field.
constexpr char kDescriptor[] = R"({"version": 0, "baseline": "empty", "types": {
  "MethodDesc": {"Flags3AndTokenRemainder": 2, "ChunkIndex": 5, "Flags": 8, "CodeData": 16},
  "MethodDescChunk": {"!": 32, "MethodTable": 16, "FlagsAndTokenRange": 8},
  "InstantiatedMethodDesc": {"PerInstInfo": 32, "Flags2": 26, "NumGenericArgs": 28},
  "DynamicMethodDesc": {"MethodName": 40},
  "MethodDescCodeData": {"VersioningState": 8},
  "MethodDescVersioningState": {"NativeCodeVersionNode": 8},
  "NativeCodeVersionNode": {"Next": 0, "MethodDesc": 8, "NativeCode": 16, "ILVersionId": 24},
  "MethodTable": {"MTFlags": 8, "MTFlags2": 12, "EEClassOrCanonMT": 16, "Module": 24, "ParentMethodTable": 32,
                  "PerInstInfo": 40},
  "EEClass": {"MethodTable": 8, "FieldDescList": 16, "NumInstanceFields": 24, "NumStaticFields": 26},
  "ArrayClass": {"Rank": 32},
  "GenericsDictInfo": {"NumDicts": 2, "NumTypeArgs": 4},
  "TypeDesc": {"TypeAndFlags": 4},
  "ParamTypeDesc": {"TypeArg": 8},
  "TypeVarTypeDesc": {"Module": 8, "Token": 16},
  "FieldDesc": {"!": 24, "MethodTable": 8, "TokenAndFlags": 16, "OffsetAndType": 20},
  "Module": {"Base": 8, "DynamicMetadata": 16, "Path": 24, "TypeDefToMethodTableMap": 32, "TypeRefToMethodTableMap": 64,
             "Flags": 96, "DynamicILBlobTable": 104},
  "DynamicILBlobTable": {"Table": 8, "TableSize": 16},
  "ModuleLookupMap": {"TableData": 0, "Next": 8, "Count": 16, "SupportedFlagsMask": 24},
  "DynamicMetadata": {"Size": 4, "Data": 8},
  "RealCodeHeader": {"DebugInfo": 8},
  "PatchpointInfo": {"!": 24, "LocalCount": 12, "Tier0EntryPoint": 16},
  "ReadyToRunInfo": {"ReadyToRunHeader": 8}},
 "globals": {"MethodDescAlignment": ["0x8", "uint64"], "MethodDescTokenRemainderBitCount": ["0xc", "uint8"]},
 "contracts": {"ExecutionManager": "VERSION"}})";

constexpr std::uint16_t kInstantiated = 5, kDynamic = 7;
constexpr std::uint32_t kGenericInstance = 0x10, kArray = 0x8008'0000, kOneDimension = 0x0002'0000;

}  // namespace

std::string RuntimeBuilder::descriptor(const std::string& execution_manager) const {
  std::string text = kDescriptor;
  text.replace(text.find("VERSION"), 7, execution_manager);
  return text;
}

std::uint64_t RuntimeBuilder::room(std::uint64_t bytes) {
  const std::uint64_t at = next_;
  next_ += (bytes + 15) / 16 * 16;
  for (std::uint64_t i = 0; i < bytes; i += 8) memory.put(at + i, std::uint64_t{0});
  return at;
}

std::uint64_t RuntimeBuilder::bytes(std::span<const std::byte> content) {
  const std::uint64_t at = room(content.size());
  for (std::size_t i = 0; i < content.size(); ++i) memory.put(at + i, content[i]);
  return at;
}

std::uint64_t RuntimeBuilder::utf16(const std::string& text) {
  const std::uint64_t at = room(2 * text.size() + 2);
  for (std::size_t i = 0; i < text.size(); ++i) put16(at + 2 * i, static_cast<unsigned char>(text[i]));
  return at;
}

std::uint64_t RuntimeBuilder::list(const std::vector<std::uint64_t>& values) {
  const std::uint64_t at = room(8 * values.size() + 8);
  for (std::size_t i = 0; i < values.size(); ++i) put64(at + 8 * i, values[i]);
  return at;
}

std::uint64_t RuntimeBuilder::module(const std::vector<std::byte>& metadata, const std::string& path) {
  const std::uint64_t buffer = room(8 + metadata.size());
  put32(buffer + 4, static_cast<std::uint32_t>(metadata.size()));
  for (std::size_t i = 0; i < metadata.size(); ++i) memory.put(buffer + 8 + i, metadata[i]);
  const std::uint64_t module = room(112);
  put64(module + 16, buffer);
  put64(module + 24, utf16(path));
  return module;
}

void RuntimeBuilder::reload(std::uint64_t module, const std::vector<std::uint32_t>& tokens) {
  const std::uint64_t table = room(24), entries = room(16 * tokens.size());
  put32(module + 96, 0x1008);
  put64(module + 104, table);
  put64(table + 8, entries);
  put32(table + 16, static_cast<std::uint32_t>(tokens.size()));
  for (std::size_t i = 0; i < tokens.size(); ++i) put32(entries + 16 * i, tokens[i]);
}

std::uint64_t RuntimeBuilder::type(std::uint64_t module, std::uint32_t row, const std::vector<std::uint64_t>& arguments,
                                   unsigned bases) {
  const std::uint64_t type = room(48), type_class = room(40);
  put64(type_class + 8, type);
  put32(type + 8, arguments.empty() ? 0 : kGenericInstance);
  put32(type + 12, row << 8 | 0xA5);
  put64(type + 16, type_class);
  put64(type + 24, module);
  if (arguments.empty()) return type;
  std::vector<std::uint64_t> dictionaries(bases, list({0xBAD}));
  dictionaries.push_back(list(arguments));
  const std::uint64_t info = room(8 + 8 * dictionaries.size());
  put16(info + 2, static_cast<std::uint16_t>(dictionaries.size()));
  put16(info + 4, static_cast<std::uint16_t>(arguments.size()));
  for (std::size_t i = 0; i < dictionaries.size(); ++i) put64(info + 8 + 8 * i, dictionaries[i]);
  put64(type + 40, info + 8);
  return type;
}

std::uint64_t RuntimeBuilder::array(std::uint64_t element, unsigned rank) {
  const std::uint64_t type = this->type(0, 0);
  put32(type + 8, kArray | (rank == 0 ? kOneDimension : 0));
  put64(type + 40, element);
  const auto type_class = memory.read_value<std::uint64_t>(type + 16);
  memory.put(*type_class + 32, static_cast<std::uint8_t>(rank));
  return type;
}

std::uint64_t RuntimeBuilder::derived(std::uint8_t kind, std::uint64_t element) {
  const std::uint64_t desc = room(24);
  put32(desc + 4, 0x100u | kind);
  put64(desc + 8, element);
  return desc | 2;
}

std::uint64_t RuntimeBuilder::parameter(std::uint64_t module, std::uint32_t token) {
  const std::uint64_t desc = room(24);
  put32(desc + 4, 0x13);
  put64(desc + 8, module);
  put32(desc + 16, token);
  return desc | 2;
}

// The method is the third of its chunk: 16 bytes, two units of 8, behind the chunk's beginning.
std::uint64_t RuntimeBuilder::method_desc(std::uint64_t type, std::uint32_t row, std::uint16_t kind) {
  const std::uint64_t chunk = room(32 + 16 + 48), method = chunk + 32 + 16;
  put64(chunk + 16, type);
  put16(chunk + 8, static_cast<std::uint16_t>(0x4000 | row >> 12));
  memory.put(method + 5, std::uint8_t{2});
  put16(method + 2, static_cast<std::uint16_t>(0x8000 | (row & 0xFFF)));
  put16(method + 8, static_cast<std::uint16_t>(0x20 | kind));
  return method;
}

std::uint64_t RuntimeBuilder::method(std::uint64_t type, std::uint32_t row,
                                     const std::vector<std::uint64_t>& arguments) {
  const std::uint64_t method = method_desc(type, row, arguments.empty() ? 0 : kInstantiated);
  if (arguments.empty()) return method;
  put64(method + 32, list(arguments));
  put16(method + 26, 1);
  put16(method + 28, static_cast<std::uint16_t>(arguments.size()));
  return method;
}

std::uint64_t RuntimeBuilder::dynamic_method(std::uint64_t type, const std::string& name) {
  const std::uint64_t method = method_desc(type, 0, kDynamic);
  std::vector<std::byte> text;
  for (const char c : name) text.push_back(static_cast<std::byte>(c));
  text.push_back(std::byte{0});
  put64(method + 40, bytes(text));
  return method;
}

void RuntimeBuilder::fields(std::uint64_t type, std::span<const Field> fields, std::uint64_t parent,
                            std::uint16_t inherited) {
  const std::uint64_t type_class = *memory.read_value<std::uint64_t>(type + 16);
  const std::uint64_t descs = room(24 * fields.size() + 8);
  std::uint16_t of_objects = inherited, of_type = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool is_static = fields[i].offset == kStatic;
    ++(is_static ? of_type : of_objects);
    put64(descs + 24 * i + 8, type);
    put32(descs + 24 * i + 16, fields[i].row | (is_static ? 0x0100'0000 : 0));
    put32(descs + 24 * i + 20, fields[i].element << 27 | (is_static ? 0x40 : fields[i].offset));
  }
  put64(type_class + 16, descs);
  put16(type_class + 24, of_objects);
  put16(type_class + 26, of_type);
  put64(type + 32, parent);
}

void RuntimeBuilder::map_type(std::uint64_t module, bool defined, std::uint32_t row, std::uint64_t type) {
  constexpr std::uint32_t kFirst = 2, kSecond = 8;
  std::uint64_t map = module + (defined ? 32 : 64);
  if (*memory.read_value<std::uint64_t>(map) == 0) {
    const std::uint64_t next = room(32);
    put64(map, room(8 * kFirst));
    put64(map + 8, next);
    put32(map + 16, kFirst);
    put64(map + 24, 1);
    put64(next, room(8 * kSecond));
    put32(next + 16, kSecond);
    put64(next + 24, 1);
  }
  if (row >= kFirst) {
    map = *memory.read_value<std::uint64_t>(map + 8);
    row -= kFirst;
  }
  put64(*memory.read_value<std::uint64_t>(map) + 8 * std::uint64_t{row}, type | 1);
}

}  // namespace mixwalk::test
