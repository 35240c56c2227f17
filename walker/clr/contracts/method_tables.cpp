#include "walker/clr/contracts/method_tables.h"

namespace mixwalk {
namespace {

// A bit of MethodTable.EEClassOrCanonMT: the rest is the MethodTable that owns the class.
constexpr std::uint64_t kIsMethodTable = 1;
// MethodTable.MTFlags: whether the low 16 bits are the size of an element of an array or a string.
constexpr std::uint32_t kHasComponents = 0x8000'0000, kComponentBytes = 0xFFFF;
constexpr std::uint64_t kAlignment = 8;

}  // namespace

std::optional<std::uint64_t> class_of_type(const RuntimeReader& reader, std::uint64_t method_table) {
  if (method_table % kAlignment != 0) return std::nullopt;
  std::uint64_t owner = method_table;
  auto type_class = reader.field(owner, "MethodTable", "EEClassOrCanonMT");
  if (type_class && (*type_class & kIsMethodTable) != 0) {
    owner = *type_class & ~kIsMethodTable;
    type_class = reader.field(owner, "MethodTable", "EEClassOrCanonMT");
  }
  if (!type_class || *type_class == 0 || (*type_class & kIsMethodTable) != 0) return std::nullopt;
  return reader.field(*type_class, "EEClass", "MethodTable") == owner ? type_class : std::nullopt;
}

bool is_free_room(const RuntimeReader& reader, std::uint64_t method_table) {
  return method_table != 0 && reader.variable("FreeObjectMethodTable") == method_table;
}

bool is_method_table(const RuntimeReader& reader, std::uint64_t method_table) {
  return class_of_type(reader, method_table) || is_free_room(reader, method_table);
}

ObjectBytes object_bytes_of(const RuntimeReader& reader, std::uint64_t method_table) {
  if (!is_method_table(reader, method_table)) return {};
  const auto flags = reader.field<std::uint32_t>(method_table, "MethodTable", "MTFlags");
  const auto base = reader.field<std::uint32_t>(method_table, "MethodTable", "BaseSize");
  if (!flags || !base) return {};
  return {*base, (*flags & kHasComponents) != 0 ? *flags & kComponentBytes : 0};
}

}  // namespace mixwalk
