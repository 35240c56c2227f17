#include "walker/clr/contracts/runtime_fields.h"

#include <algorithm>

#include "walker/clr/contracts/method_tables.h"

namespace mixwalk {
namespace {

// The limit for fields of one type. Types that tools generate have some hundred.
constexpr std::uint32_t kMaxFields = 4096;
// FieldDesc.TokenAndFlags: the row of the field, and whether it belongs to the type itself. FieldDesc.OffsetAndType has
// the type in its highest 5 bits; the highest offsets mean something else.
constexpr std::uint32_t kRow = 0x00FF'FFFF, kIsStatic = 0x0100'0000, kOffset = 0x07FF'FFFF, kMaxOffset = 0x0010'0000;
constexpr std::uint64_t kMethodTableBytes = 8;  // an object's fields are counted from after its MethodTable

// The number of fields of an object, those of base types included.
std::uint16_t instance_fields(const RuntimeReader& reader, std::uint64_t type_class) {
  return reader.field<std::uint16_t>(type_class, "EEClass", "NumInstanceFields").value_or(0);
}

}  // namespace

std::vector<RuntimeField> fields_of_type(const RuntimeReader& reader, RuntimeModules& modules,
                                         std::uint64_t method_table) {
  const auto type_class = class_of_type(reader, method_table);
  const auto module = reader.field(method_table, "MethodTable", "Module");
  const auto bytes = reader.descriptor().size("FieldDesc");
  if (!type_class || !module || !bytes) return {};
  const auto owner = reader.field(*type_class, "EEClass", "MethodTable");
  const auto first = reader.field(*type_class, "EEClass", "FieldDescList");
  const auto statics = reader.field<std::uint16_t>(*type_class, "EEClass", "NumStaticFields");
  const auto parent = reader.field(method_table, "MethodTable", "ParentMethodTable").value_or(0);
  const auto parent_class = parent != 0 ? class_of_type(reader, parent) : std::nullopt;
  const MetadataNames* const metadata = modules.metadata_of(*module);
  if (!owner || !first || !statics || metadata == nullptr || (parent != 0 && !parent_class)) return {};
  const std::uint32_t inherited = parent_class ? instance_fields(reader, *parent_class) : 0;
  const std::uint32_t all = instance_fields(reader, *type_class) + std::uint32_t{*statics};
  if (all < inherited || all - inherited > kMaxFields) return {};
  std::vector<RuntimeField> fields;
  for (std::uint32_t i = 0; i < all - inherited; ++i) {
    const std::uint64_t at = *first + std::uint64_t{*bytes} * i;
    const auto flags = reader.field<std::uint32_t>(at, "FieldDesc", "TokenAndFlags");
    const auto place = reader.field<std::uint32_t>(at, "FieldDesc", "OffsetAndType");
    if (!flags || !place || reader.field(at, "FieldDesc", "MethodTable") != owner) return {};
    const std::uint32_t offset = *place & kOffset;
    if ((*flags & kIsStatic) != 0 || offset > kMaxOffset) continue;
    fields.push_back({metadata->field_name(metadata_token(MetadataTable::field, *flags & kRow)),
                      offset + kMethodTableBytes});
  }
  return fields;
}

}  // namespace mixwalk
