#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/builders/fake_clr_questions.h"
#include "tests/builders/paged_memory.h"

namespace mixwalk::test {

// Managed objects in a test's memory. Each field has 8 bytes.
class ManagedHeap {
 public:
  struct Field {
    std::string name;
    std::uint64_t value_type = 0;  // the MethodTable of a value type; 0 for another field
  };

  ManagedHeap(PagedMemory& memory, FakeClrQuestions& clr) : memory_(memory), clr_(clr) {}

  // Returns the address of the type's MethodTable.
  std::uint64_t type(const std::string& name, const std::vector<Field>& fields = {}, std::uint64_t parent = 0) {
    ClrType type{.name = name, .parent = parent};
    if (parent != 0) type.fields = clr_.types_of.at(parent).fields;
    std::uint32_t offset = parent != 0 ? clr_.types_of.at(parent).base_bytes - 8 : 8;
    add_fields(type, fields, offset);
    type.base_bytes = std::max(offset + 8, 24u);
    return add(type);
  }
  std::uint64_t value_type(const std::string& name, const std::vector<Field>& fields) {
    ClrType type{.name = name};
    std::uint32_t offset = 0;
    add_fields(type, fields, offset);
    type.base_bytes = offset + 16;
    return add(type);
  }
  std::uint64_t array_type(const std::string& name, std::uint32_t element_bytes = 8) {
    return add({.name = name, .base_bytes = 24, .component_bytes = element_bytes});
  }

  std::uint64_t object(std::uint64_t type) {
    const std::uint64_t at = room(clr_.types_of.at(type).base_bytes);
    put(at, type);
    return at;
  }
  std::uint64_t array(std::uint64_t type, const std::vector<std::uint64_t>& words) {
    const std::uint64_t at = room(24 + 8 * words.size());
    put(at, type);
    put(at + 8, 8 * words.size() / clr_.types_of.at(type).component_bytes);
    for (std::size_t i = 0; i < words.size(); ++i) put(at + 16 + 8 * i, words[i]);
    return at;
  }
  // Sets a field, and returns the object. A path goes through values.
  std::uint64_t set(std::uint64_t object, std::initializer_list<std::string> path, std::uint64_t value) {
    std::uint64_t table = *memory_.read_value<std::uint64_t>(object), at = object;
    for (const std::string& name : path) {
      const ClrType& type = clr_.types_of.at(table);
      for (const ClrField& field : type.fields) {
        if (field.name != name) continue;
        at += field.offset;
        table = field.type;
        break;
      }
    }
    put(at, value);
    return object;
  }
  void put(std::uint64_t address, std::uint64_t word) { memory_.put(address, word); }
  std::uint64_t room(std::uint64_t bytes) {
    const std::uint64_t at = next_;
    next_ += (bytes + 15) & ~15ull;
    return at + 8;
  }

 private:
  void add_fields(ClrType& type, const std::vector<Field>& fields, std::uint32_t& offset) {
    for (const Field& field : fields) {
      const bool value = field.value_type != 0;
      type.fields.push_back({field.name, offset, static_cast<std::uint8_t>(value ? 0x11 : 0x12), field.value_type});
      offset += value ? clr_.types_of.at(field.value_type).base_bytes - 16 : 8;
    }
  }
  std::uint64_t add(const ClrType& type) {
    const std::uint64_t table = next_table_;
    next_table_ += 0x100;
    put(table, 0);
    clr_.types_of[table] = type;
    return table;
  }

  PagedMemory& memory_;
  FakeClrQuestions& clr_;
  std::uint64_t next_ = 0x3'0000'0000, next_table_ = 0x2'4000'0000;
};

}  // namespace mixwalk::test
