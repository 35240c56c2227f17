#include "walker/clr/contracts/runtime_fields.h"

#include <algorithm>

#include "symbols/byte_cursor.h"
#include "symbols/metadata/compressed_number.h"
#include "walker/clr/contracts/method_tables.h"
#include "walker/clr/contracts/runtime_methods.h"

namespace mixwalk {
namespace {

// The limits for fields of one type, and for its base types. Types that tools generate have some hundred fields.
constexpr std::uint32_t kMaxFields = 4096;
constexpr std::size_t kMaxBases = 64;
// FieldDesc.TokenAndFlags: the row of the field, and whether it belongs to the type itself. FieldDesc.OffsetAndType has
// the type in its highest 5 bits; the highest offsets mean something else.
constexpr std::uint32_t kRow = 0x00FF'FFFF, kIsStatic = 0x0100'0000, kOffset = 0x07FF'FFFF, kMaxOffset = 0x0010'0000;
constexpr unsigned kElementShift = 27;
constexpr std::uint64_t kMethodTableBytes = 8;  // an object's fields are counted from after its MethodTable
// MethodTable.MTFlags: whether the type is a value type.
constexpr std::uint32_t kCategory = 0x000C'0000, kValueCategory = 0x0004'0000;
// ELEMENT_TYPE_* (ECMA-335 II.23.1.16), and the first byte of a field's signature.
constexpr std::uint8_t kValueType = 0x11, kVariable = 0x13, kGenericInstance = 0x15, kRequired = 0x1F, kOptional = 0x20,
                       kFieldSignature = 0x06;
// The limit for the parts of a module's map of tokens. Each part is twice as large as the one before it.
constexpr int kMaxMapParts = 64;

// The number of fields of an object, those of base types included.
std::uint16_t instance_fields(const RuntimeReader& reader, std::uint64_t type_class) {
  return reader.field<std::uint16_t>(type_class, "EEClass", "NumInstanceFields").value_or(0);
}

// The MethodTable that a module's map has for a TypeDef or a TypeRef; 0 if none.
std::uint64_t type_of_token(const RuntimeReader& reader, std::uint64_t module, std::uint32_t token) {
  const bool defined = is_of_table(token, MetadataTable::type_def);
  if (!defined && !is_of_table(token, MetadataTable::type_ref)) return 0;
  auto map = reader.address_of(module, "Module", defined ? "TypeDefToMethodTableMap" : "TypeRefToMethodTableMap");
  std::uint64_t index = row_of(token);
  for (int part = 0; part < kMaxMapParts && map && *map != 0; ++part) {
    const auto count = reader.field<std::uint32_t>(*map, "ModuleLookupMap", "Count");
    const auto entries = reader.field(*map, "ModuleLookupMap", "TableData");
    if (!count || !entries) return 0;
    if (index < *count) {
      const std::uint64_t flags = reader.field(*map, "ModuleLookupMap", "SupportedFlagsMask").value_or(0);
      return reader.value(*entries + 8 * index).value_or(0) & ~flags;
    }
    index -= *count;
    map = reader.field(*map, "ModuleLookupMap", "Next");
  }
  return 0;
}

// The MethodTable of the value type that a field's signature names; 0 if it is not known. `owner`: the MethodTable of
// the type that declares the field, whose arguments replace type parameters.
std::uint64_t value_type_of(const RuntimeReader& reader, std::uint64_t module, std::uint64_t owner,
                            const std::vector<std::byte>& signature) {
  ByteCursor cursor(signature);
  if (cursor.u8() != kFieldSignature) return 0;
  std::uint8_t element = cursor.u8();
  while (element == kRequired || element == kOptional) {
    read_compressed(cursor);
    element = cursor.u8();
  }
  if (element == kVariable) {
    const std::uint32_t index = read_compressed(cursor);
    const std::vector<std::uint64_t> arguments = arguments_of_type(reader, owner);
    return !cursor.failed() && index < arguments.size() ? arguments[index] : 0;
  }
  if (element == kGenericInstance) element = cursor.u8();
  if (element != kValueType) return 0;
  constexpr MetadataTable kTables[] = {MetadataTable::type_def, MetadataTable::type_ref};
  const std::uint32_t coded = read_compressed(cursor);
  if (cursor.failed() || (coded & 3) > 1) return 0;
  return type_of_token(reader, module, metadata_token(kTables[coded & 3], coded >> 2));
}

// Adds the fields that one type declares itself. Returns false if they are not sound.
bool add_own_fields(const RuntimeReader& reader, RuntimeModules& modules, std::uint64_t method_table,
                    std::uint64_t parent, bool value, std::vector<ClrField>& fields) {
  const auto type_class = class_of_type(reader, method_table);
  const auto module = reader.field(method_table, "MethodTable", "Module");
  const auto bytes = reader.descriptor().size("FieldDesc");
  if (!type_class || !module || !bytes) return false;
  const auto owner = reader.field(*type_class, "EEClass", "MethodTable");
  const auto first = reader.field(*type_class, "EEClass", "FieldDescList");
  const auto statics = reader.field<std::uint16_t>(*type_class, "EEClass", "NumStaticFields");
  const auto parent_class = parent != 0 ? class_of_type(reader, parent) : std::nullopt;
  if (!owner || !first || !statics || (parent != 0 && !parent_class)) return false;
  const std::uint32_t inherited = parent_class ? instance_fields(reader, *parent_class) : 0;
  const std::uint32_t own_instance = instance_fields(reader, *type_class) - inherited;
  const std::uint32_t all = own_instance + *statics;
  if (instance_fields(reader, *type_class) < inherited || fields.size() + all > kMaxFields) return false;
  if (own_instance == 0) return true;
  const MetadataNames* const metadata = modules.metadata_of(*module);
  if (metadata == nullptr) return false;
  for (std::uint32_t i = 0; i < all; ++i) {
    const std::uint64_t at = *first + std::uint64_t{*bytes} * i;
    const auto flags = reader.field<std::uint32_t>(at, "FieldDesc", "TokenAndFlags");
    const auto place = reader.field<std::uint32_t>(at, "FieldDesc", "OffsetAndType");
    if (!flags || !place || reader.field(at, "FieldDesc", "MethodTable") != owner) return false;
    const std::uint32_t offset = *place & kOffset;
    if ((*flags & kIsStatic) != 0 || offset > kMaxOffset) continue;
    const std::uint32_t token = metadata_token(MetadataTable::field, *flags & kRow);
    ClrField field{.name = metadata->field_name(token),
                   .offset = static_cast<std::uint32_t>(offset + (value ? 0 : kMethodTableBytes)),
                   .element = static_cast<std::uint8_t>(*place >> kElementShift)};
    if (field.element == kValueType) {
      field.type = value_type_of(reader, *module, method_table, metadata->field_signature(token));
    }
    fields.push_back(std::move(field));
  }
  return true;
}

}  // namespace

std::vector<ClrField> fields_of_type(const RuntimeReader& reader, RuntimeModules& modules, std::uint64_t method_table) {
  std::vector<std::uint64_t> bases;  // the type itself first
  for (std::uint64_t type = method_table; type != 0;) {
    if (bases.size() == kMaxBases) return {};
    bases.push_back(type);
    const auto parent = reader.field(type, "MethodTable", "ParentMethodTable");
    if (!parent) return {};
    type = *parent;
  }
  const auto flags = reader.field<std::uint32_t>(method_table, "MethodTable", "MTFlags").value_or(0);
  std::vector<ClrField> fields;
  for (std::size_t i = bases.size(); i-- != 0;) {
    const std::uint64_t parent = i + 1 < bases.size() ? bases[i + 1] : 0;
    if (!add_own_fields(reader, modules, bases[i], parent, (flags & kCategory) == kValueCategory, fields)) return {};
  }
  return fields;
}

}  // namespace mixwalk
