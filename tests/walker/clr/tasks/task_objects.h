#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/builders/fake_clr_questions.h"
#include "tests/builders/paged_memory.h"
#include "walker/clr/tasks/managed_objects.h"

namespace mixwalk::test {

// Objects of a program with tasks, in a memory of their own. Fields lie at offsets that no runtime uses.
class TaskObjects {
 public:
  static constexpr std::uint64_t kHeap = 0x2'0000'0000, kTypes = 0x7'0000'0000;
  static constexpr std::uint8_t kInt = 8, kReference = 0x12, kValue = 0x11;
  static constexpr std::uint32_t kBegun = 0x2'0000, kStarted = 0x1'0000, kDone = 0x100'0000;

  PagedMemory memory;
  FakeClrQuestions clr;

  struct Field {
    std::string name;
    std::uint8_t element = kReference;
    std::uint64_t type = 0;
  };

  // Each returns the address of a MethodTable. Fields follow each other, those of the base type first.
  std::uint64_t type(const std::string& name, const std::vector<Field>& fields = {}, std::uint64_t parent = 0) {
    return add_type(name, fields, parent, 8);
  }
  std::uint64_t value_type(const std::string& name, const std::vector<Field>& fields) {
    return add_type(name, fields, 0, 0);
  }
  std::uint64_t array_type(const std::string& name) {
    const std::uint64_t table = type(name);
    clr.types_of[table].component_bytes = 8;
    return table;
  }

  std::uint64_t object(std::uint64_t table, std::uint32_t elements = 0) {
    const std::uint64_t at = next_object_;
    const ClrType& type = clr.types_of[table];
    const std::uint64_t bytes = type.base_bytes + std::uint64_t{type.component_bytes} * elements;
    for (std::uint64_t i = 0; i < bytes; i += 8) memory.put(at + i, std::uint64_t{0});
    memory.put(at, table);
    if (type.component_bytes != 0) memory.put(at + 8, elements);
    next_object_ += bytes;
    clr.objects_of[at] = type.name;
    clr.heap_parts = {{kHeap, next_object_, next_object_}};
    return at;
  }
  std::uint64_t array(const std::vector<std::uint64_t>& elements) {
    const std::uint64_t at = object(array_, static_cast<std::uint32_t>(elements.size()));
    for (std::size_t i = 0; i < elements.size(); ++i) memory.put(at + 16 + 8 * i, elements[i]);
    return at;
  }
  std::uint64_t list(const std::vector<std::uint64_t>& elements) {
    std::vector<std::uint64_t> room = elements;
    room.resize(elements.size() + 2);
    const std::uint64_t at = object(list_);
    put(at, "_items", array(room));
    put(at, "_size", static_cast<std::uint32_t>(elements.size()));
    return at;
  }
  std::uint64_t task(std::uint64_t table, std::uint32_t flags = 0, std::uint64_t continuation = 0) {
    const std::uint64_t at = object(table);
    put(at, "m_stateFlags", flags);
    put(at, "m_continuationObject", continuation);
    return at;
  }

  const ClrField& field(std::uint64_t table, const std::string& name) const {
    for (const ClrField& field : clr.types_of.at(table).fields) {
      if (field.name == name) return field;
    }
    throw std::out_of_range(name);
  }
  template <class T>
  void put(std::uint64_t object, const std::string& name, T value) {
    memory.put(object + field(*memory.read_value<std::uint64_t>(object), name).offset, value);
  }
  // A field of a value in a field.
  template <class T>
  void put(std::uint64_t object, const std::string& outer, const std::string& name, T value) {
    const ClrField& of = field(*memory.read_value<std::uint64_t>(object), outer);
    memory.put(object + of.offset + field(of.type, name).offset, value);
  }

 private:
  std::uint64_t add_type(const std::string& name, const std::vector<Field>& fields, std::uint64_t parent,
                         std::uint32_t begin) {
    const std::uint64_t table = next_type_;
    next_type_ += 0x100;
    memory.put(table, std::uint64_t{0});
    ClrType type{.name = name, .parent = parent, .fields = {}};
    std::uint32_t& end = ends_.try_emplace(table, parent != 0 ? ends_.at(parent) : begin).first->second;
    if (parent != 0) type.fields = clr.types_of[parent].fields;
    for (const Field& of : fields) {
      type.fields.push_back({of.name, end, of.element, of.type});
      end += of.type != 0 ? ends_.at(of.type) : 8;
    }
    // As the collector counts: with the header before the object, and no less than three words.
    type.base_bytes = std::max(end + 8, 24u);
    clr.types_of[table] = type;
    return table;
  }

  std::map<std::uint64_t, std::uint32_t> ends_;  // where a type's fields end, by MethodTable
  std::uint64_t next_object_ = kHeap, next_type_ = kTypes;

 public:
  const std::uint64_t object_ = type("System.Object");
  const std::uint64_t array_ = array_type("System.Object[]");
  const std::uint64_t list_ = type("System.Collections.Generic.List<System.Object>", {{"_items"}, {"_size", kInt}});
  const std::uint64_t delegate_ =
      type("System.Action", {{"_target"}, {"_methodPtr", 0x18}, {"_methodPtrAux", 0x18}}, type("System.Delegate"));
  const std::uint64_t task_ = type(
      "System.Threading.Tasks.Task", {{"m_action"}, {"m_stateFlags", kInt}, {"m_continuationObject"},
                                     {"m_contingentProperties"}}, object_);
  const std::uint64_t task_of_int_ = type("System.Threading.Tasks.Task<System.Int32>", {{"m_result", kInt}}, task_);
  const std::uint64_t awaiter_ =
      value_type("System.Runtime.CompilerServices.TaskAwaiter", {{"m_task"}, {"m_options", kInt}});
  // Release: a machine that is a value, in its box.
  const std::uint64_t machine_ = value_type("Orders.Client+<FetchAsync>d__3", {{"<>1__state", kInt},
                                                                              {"<>t__builder", kReference},
                                                                              {"<>u__1", kValue, awaiter_},
                                                                              {"<>u__2", kValue, awaiter_}});
  const std::uint64_t box_ = type(
      "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Int32>+AsyncStateMachineBox<Orders.Client+"
      "<FetchAsync>d__3>",
      {{"StateMachine", kValue, machine_}}, task_of_int_);

  // A method at its await of this number, which waits for `awaited` with the awaiter in this field.
  std::uint64_t method(std::int32_t state, const std::string& awaiter, std::uint64_t awaited) {
    const std::uint64_t box = task(box_);
    put(box, "StateMachine", "<>1__state", state);
    const ClrField& machine = field(box_, "StateMachine");
    memory.put(box + machine.offset + field(machine_, awaiter).offset, awaited);
    return box;
  }
};

}  // namespace mixwalk::test
