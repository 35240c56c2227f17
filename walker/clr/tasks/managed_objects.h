#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "walker/clr/clr_questions.h"

namespace mixwalk {

// A type of managed objects, or of values.
struct ManagedType {
  ClrType clr;
  std::vector<std::string> bases;  // the names of its base types, the nearest first
  bool task = false;               // its objects are Tasks

  // The field with this name, that of the type itself before those of its base types; null if there is none.
  const ClrField* field(std::string_view name) const;
  // Whether the type, or one of its base types, has this name.
  bool is(std::string_view name) const;
};

// An array on the managed heap.
struct ManagedArray {
  std::uint64_t data = 0;  // address of its first element
  std::uint32_t length = 0, element_bytes = 0;
};

// Reads objects of a target by the names of their fields. Types are asked for once and kept. Nothing of the target is
// trusted. Not frozen-safe; one thread at a time.
class ManagedObjects {
 public:
  // Both must outlive this object.
  ManagedObjects(const MemoryReader& memory, ClrQuestions& clr) : memory_(memory), clr_(clr) {}

  const MemoryReader& memory() const { return memory_; }
  ClrQuestions& clr() const { return clr_; }

  // The type at this address of a MethodTable; null if there is none. Valid as long as this object.
  const ManagedType* type(std::uint64_t method_table);
  // The address of the MethodTable of an object; 0 if there is no object for all that is known.
  std::uint64_t method_table_of(std::uint64_t object) const;
  const ManagedType* type_of(std::uint64_t object);
  // Asks for the types of these objects with few questions.
  void expect(std::span<const std::uint64_t> objects);

  // The value of a field. `at`: the object's address, or that of a value of a value type. Returns nothing if there is
  // no such field, or if it cannot be read.
  template <class T = std::uint64_t>
  std::optional<T> value(std::uint64_t at, const ManagedType& type, std::string_view field) const {
    const ClrField* const found = type.field(field);
    return found != nullptr ? memory_.read_value<T>(at + found->offset) : std::nullopt;
  }
  // The same for a reference to an object; 0 if there is none.
  std::uint64_t reference(std::uint64_t at, const ManagedType& type, std::string_view field) const;

  // Returns nothing if the object is no array.
  std::optional<ManagedArray> array(std::uint64_t object);
  // The words of the object's fields or elements that may be references, at most so many words. Other data may be among
  // them.
  std::vector<std::uint64_t> words(std::uint64_t object, std::size_t most);

  // The references in an array, or in a List<T>. At most so many of them are read; `all` is how many there are.
  struct References {
    std::vector<std::uint64_t> objects;
    std::uint64_t all = 0;
  };
  References references_of(std::uint64_t list, std::size_t most);

 private:
  void ask(std::vector<std::uint64_t> method_tables);

  const MemoryReader& memory_;
  ClrQuestions& clr_;
  std::unordered_map<std::uint64_t, std::unique_ptr<const ManagedType>> types_;  // null: there is no type
  std::size_t fields_ = 0;  // of all types: types of a forged dump may share their many fields
};

}  // namespace mixwalk
