#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "walker/clr/tasks/managed_objects.h"

namespace mixwalk {

// Reads managed objects by paths of fields. Nothing in the target is trusted: every answer may be missing or wrong, and
// none is large. Not frozen-safe.
class ObjectPaths {
 public:
  // The names of fields, each in the value that the one before it has.
  using Path = std::initializer_list<std::string_view>;

  // Both must outlive this object.
  ObjectPaths(const MemoryReader& memory, ClrQuestions& clr) : objects_(memory, clr) {}

  ManagedObjects& objects() { return objects_; }
  const MemoryReader& memory() const { return objects_.memory(); }

  // Empty if there is no object at the address.
  std::string_view type_name(std::uint64_t object);
  // Whether this is the object's type, or one of its base types.
  bool is_a(std::uint64_t object, std::string_view name);

  // The address of a field in the object.
  std::optional<std::uint64_t> field(std::uint64_t object, Path path);
  // 0 if it is null, or if there is no such field.
  std::uint64_t reference(std::uint64_t object, Path path) { return value<std::uint64_t>(object, path).value_or(0); }
  template <class T>
  std::optional<T> value(std::uint64_t object, Path path) {
    const auto at = field(object, path);
    return at ? memory().read_value<T>(*at) : std::nullopt;
  }

 private:
  ManagedObjects objects_;
};

}  // namespace mixwalk
