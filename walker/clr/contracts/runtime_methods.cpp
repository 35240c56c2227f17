#include "walker/clr/contracts/runtime_methods.h"

#include "symbols/metadata/metadata_schema.h"
#include "walker/clr/contracts/method_tables.h"

namespace mixwalk {
namespace {

// The limit for generic parameters of one type or method. Real ones have a few.
constexpr std::uint16_t kMaxTypeArguments = 64;

// MethodDesc.Flags: what kind of method it is.
constexpr std::uint16_t kKindOfMethod = 7, kInstantiated = 5, kDynamic = 7;
// InstantiatedMethodDesc.Flags2; a definition has no arguments.
constexpr std::uint16_t kKindOfInstantiation = 7, kDefinition = 0;

// MethodTable.MTFlags. The lowest 16 bits are other flags if the type has components (an array, a string).
constexpr std::uint32_t kHasComponents = 0x8000'0000, kGenerics = 0x30, kNotGeneric = 0, kTypicalInstance = 0x30;
constexpr std::uint32_t kArrayMask = 0x000C'0000, kArray = 0x0008'0000, kOneDimension = 0x0002'0000;
// MethodTable.MTFlags2: the row of the TypeDef is above these bits.
constexpr unsigned kRowShift = 8;
constexpr std::uint32_t kMaxRank = 32;

// A TypeHandle with this bit is a TypeDesc. TypeDesc.TypeAndFlags has an ELEMENT_TYPE in its lowest byte.
constexpr std::uint64_t kIsTypeDesc = 2;
constexpr std::uint32_t kElementType = 0xFF, kPointer = 0x0F, kByRef = 0x10, kTypeVariable = 0x13,
                        kMethodVariable = 0x1E, kFunctionPointer = 0x1B;

// The dictionary of a type with generic parameters has this much before the pointers to dictionaries.
constexpr std::uint64_t kDictionaryInfoBytes = 8;

std::vector<std::uint64_t> type_list(const RuntimeReader& reader, std::uint64_t at, std::uint16_t count) {
  std::vector<std::uint64_t> types;
  for (std::uint16_t i = 0; i < count && count <= kMaxTypeArguments; ++i) {
    const auto type = reader.value(at + 8 * std::uint64_t{i});
    if (!type) return {};
    types.push_back(*type);
  }
  return types;
}

std::optional<RuntimeType> type_desc(const RuntimeReader& reader, std::uint64_t desc) {
  const auto kind = reader.field<std::uint32_t>(desc, "TypeDesc", "TypeAndFlags");
  if (!kind) return std::nullopt;
  RuntimeType type;
  switch (*kind & kElementType) {
    case kPointer:
    case kByRef: {
      const auto element = reader.field(desc, "ParamTypeDesc", "TypeArg");
      if (!element) return std::nullopt;
      type.kind = (*kind & kElementType) == kPointer ? RuntimeType::Kind::pointer : RuntimeType::Kind::reference;
      type.element = *element;
      return type;
    }
    case kTypeVariable:
    case kMethodVariable: {
      const auto module = reader.field(desc, "TypeVarTypeDesc", "Module");
      const auto token = reader.field<std::uint32_t>(desc, "TypeVarTypeDesc", "Token");
      if (!module || !token) return std::nullopt;
      type.kind = RuntimeType::Kind::parameter;
      type.module = *module;
      type.token = *token;
      return type;
    }
    case kFunctionPointer: type.kind = RuntimeType::Kind::function; return type;
    default: return std::nullopt;
  }
}

}  // namespace

// MethodDescs lie in chunks, and each says how far it is from the beginning of its chunk. The token is in two parts:
// one is in the MethodDesc, the other is the same for the whole chunk.
std::optional<RuntimeMethod> runtime_method_at(const RuntimeReader& reader, std::uint64_t method) {
  const auto index = reader.field<std::uint8_t>(method, "MethodDesc", "ChunkIndex");
  const auto flags = reader.field<std::uint16_t>(method, "MethodDesc", "Flags");
  const auto low_token = reader.field<std::uint16_t>(method, "MethodDesc", "Flags3AndTokenRemainder");
  const auto chunk_bytes = reader.descriptor().size("MethodDescChunk");
  const std::uint64_t unit = reader.global("MethodDescAlignment").value_or(0);
  const std::uint64_t token_bits = reader.global("MethodDescTokenRemainderBitCount").value_or(0);
  if (!index || !flags || !low_token || !chunk_bytes || unit == 0 || token_bits == 0 || token_bits > 16) {
    return std::nullopt;
  }
  const std::uint64_t chunk = method - *index * unit - *chunk_bytes;
  const auto range = reader.field<std::uint16_t>(chunk, "MethodDescChunk", "FlagsAndTokenRange");
  const auto type = reader.field(chunk, "MethodDescChunk", "MethodTable");
  if (!range || !type || !class_of_type(reader, *type)) return std::nullopt;
  // Above the token's part, both words have flags.
  const std::uint32_t low = *low_token & ((1u << token_bits) - 1), high = std::uint32_t{*range} << token_bits;
  RuntimeMethod found{.type = *type,
                      .module = reader.field(*type, "MethodTable", "Module").value_or(0),
                      .token = metadata_token(MetadataTable::method_def, row_of(high) | low),
                      .dynamic = (*flags & kKindOfMethod) == kDynamic};
  if (found.dynamic) found.dynamic_name = reader.field(method, "DynamicMethodDesc", "MethodName").value_or(0);
  return found;
}

// A type has a dictionary for each of its base types that are generic, and its own is the last one.
std::vector<std::uint64_t> arguments_of_type(const RuntimeReader& reader, std::uint64_t method_table) {
  const auto flags = reader.field<std::uint32_t>(method_table, "MethodTable", "MTFlags");
  if (!flags || (*flags & kHasComponents) != 0) return {};
  if ((*flags & kGenerics) == kNotGeneric || (*flags & kGenerics) == kTypicalInstance) return {};
  const auto dictionaries = reader.field(method_table, "MethodTable", "PerInstInfo");
  if (!dictionaries || *dictionaries < kDictionaryInfoBytes) return {};
  const std::uint64_t info = *dictionaries - kDictionaryInfoBytes;
  const auto count = reader.field<std::uint16_t>(info, "GenericsDictInfo", "NumDicts");
  const auto arguments = reader.field<std::uint16_t>(info, "GenericsDictInfo", "NumTypeArgs");
  if (!count || *count == 0 || !arguments) return {};
  const auto own = reader.value(*dictionaries + 8 * (std::uint64_t{*count} - 1));
  return own ? type_list(reader, *own, *arguments) : std::vector<std::uint64_t>();
}

std::vector<std::uint64_t> arguments_of_method(const RuntimeReader& reader, std::uint64_t method) {
  const auto flags = reader.field<std::uint16_t>(method, "MethodDesc", "Flags");
  if (!flags || (*flags & kKindOfMethod) != kInstantiated) return {};
  const auto kind = reader.field<std::uint16_t>(method, "InstantiatedMethodDesc", "Flags2");
  const auto arguments = reader.field(method, "InstantiatedMethodDesc", "PerInstInfo");
  const auto count = reader.field<std::uint16_t>(method, "InstantiatedMethodDesc", "NumGenericArgs");
  if (!kind || !arguments || !count || (*kind & kKindOfInstantiation) == kDefinition) return {};
  return type_list(reader, *arguments, *count);
}

std::optional<RuntimeType> runtime_type_at(const RuntimeReader& reader, std::uint64_t type) {
  if ((type & kIsTypeDesc) != 0) return type_desc(reader, type & ~kIsTypeDesc);
  const auto type_class = class_of_type(reader, type);
  const auto flags = reader.field<std::uint32_t>(type, "MethodTable", "MTFlags");
  const auto flags2 = reader.field<std::uint32_t>(type, "MethodTable", "MTFlags2");
  const auto module = reader.field(type, "MethodTable", "Module");
  if (!type_class || !flags || !flags2 || !module) return std::nullopt;
  RuntimeType found{.module = *module, .token = metadata_token(MetadataTable::type_def, *flags2 >> kRowShift)};
  if ((*flags & kArrayMask) != kArray) return found;
  const auto element = reader.field(type, "MethodTable", "PerInstInfo");
  if (!element) return std::nullopt;
  found.kind = RuntimeType::Kind::array;
  found.element = *element;
  found.rank = (*flags & kOneDimension) != 0
                   ? 1
                   : std::uint32_t{reader.field<std::uint8_t>(*type_class, "ArrayClass", "Rank").value_or(1)};
  if (found.rank == 0 || found.rank > kMaxRank) return std::nullopt;
  return found;
}

}  // namespace mixwalk
