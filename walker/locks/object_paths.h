#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "walker/clr/tasks/managed_objects.h"

namespace mixwalk {

// An array on the managed heap.
struct ManagedArray {
  std::uint64_t data = 0;  // address of its first element
  std::uint32_t length = 0, element_bytes = 0;
};

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

  // Returns nothing if the object is no array.
  std::optional<ManagedArray> array(std::uint64_t object);
  // The words of the object's fields or elements that may be references, at most so many words. Other data may be among
  // them.
  std::vector<std::uint64_t> words(std::uint64_t object, std::size_t most);

 private:
  ManagedObjects objects_;
};

}  // namespace mixwalk
