#include "walker/locks/object_paths.h"

namespace mixwalk {

std::string_view ObjectPaths::type_name(std::uint64_t object) {
  const ManagedType* const type = objects_.type_of(object);
  return type != nullptr ? std::string_view(type->clr.name) : std::string_view();
}

bool ObjectPaths::is_a(std::uint64_t object, std::string_view name) {
  const ManagedType* const type = objects_.type_of(object);
  return type != nullptr && type->is(name);
}

std::optional<std::uint64_t> ObjectPaths::field(std::uint64_t object, Path path) {
  std::uint64_t table = objects_.method_table_of(object), at = object;
  for (const std::string_view name : path) {
    const ManagedType* const type = objects_.type(table);
    const ClrField* const found = type != nullptr ? type->field(name) : nullptr;
    if (found == nullptr) return std::nullopt;
    at += found->offset;
    table = found->type;
  }
  return at;
}

}  // namespace mixwalk
