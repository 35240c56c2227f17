#include "walker/locks/object_paths.h"

#include <algorithm>

#include "unmanaged/user_address.h"

namespace mixwalk {
namespace {

// The number of an array's elements, and its first element, or the first field of another object.
constexpr std::uint64_t kLength = 8, kFirstElement = 16, kFirstField = 8;
// The size of an object counts the header before it.
constexpr std::uint64_t kHeaderBytes = 8;

}  // namespace

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

std::optional<ManagedArray> ObjectPaths::array(std::uint64_t object) {
  const ManagedType* const type = objects_.type_of(object);
  const auto length = memory().read_value<std::uint32_t>(object + kLength);
  if (type == nullptr || type->clr.component_bytes == 0 || !length) return std::nullopt;
  return ManagedArray{object + kFirstElement, *length, type->clr.component_bytes};
}

std::vector<std::uint64_t> ObjectPaths::words(std::uint64_t object, std::size_t most) {
  std::uint64_t begin = object + kFirstField, bytes = 0;
  if (const auto elements = array(object)) {
    // References are in whole words, so elements of other sizes have none.
    if (elements->element_bytes % 8 != 0) return {};
    begin = elements->data;
    bytes = std::uint64_t{elements->element_bytes} * elements->length;
  } else if (const ManagedType* const type = objects_.type_of(object)) {
    const std::uint64_t size = type->clr.base_bytes;
    bytes = size > kFirstField + kHeaderBytes ? size - kFirstField - kHeaderBytes : 0;
  }
  std::vector<std::uint64_t> found(static_cast<std::size_t>(std::min<std::uint64_t>(bytes / 8, most)));
  found.resize(memory().read_up_to(begin, found.data(), found.size() * 8) / 8);
  std::erase_if(found, [](std::uint64_t word) { return word % 8 != 0 || !is_user_address(word); });
  return found;
}

}  // namespace mixwalk
