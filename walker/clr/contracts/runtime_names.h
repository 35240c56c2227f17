#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "walker/clr/clr_questions.h"
#include "walker/clr/contracts/runtime_methods.h"
#include "walker/clr/contracts/runtime_modules.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// The names of methods and types in a runtime, from its data and the metadata of its modules. They are those that
// DacLibrary makes of the debugging library's names, and are cut at the same length. Not frozen-safe; one thread at a
// time.
class RuntimeNames {
 public:
  RuntimeNames(const RuntimeReader& reader, RuntimeModules& modules) : reader_(reader), modules_(modules) {}

  // As ClrQuestions::method(). The name is empty if this is no method, or if its metadata is not in memory.
  ClrMethod method(std::uint64_t method);
  // The name of a type in the form for people, by its TypeHandle: "System.Collections.Generic.List<System.Int32>[]".
  // The result is empty if this is no type, or if its metadata is not in memory.
  std::string type_name(std::uint64_t type);

 private:
  // Types that are part of another name. `depth`: how many types they are inside.
  std::string name_of(std::uint64_t type, int depth);
  std::vector<std::string> names_of(const std::vector<std::uint64_t>& types, int depth);
  std::string declared_name(std::uint64_t method_table, const RuntimeType& type, int depth);

  const RuntimeReader& reader_;
  RuntimeModules& modules_;
  void begin_name();

  // What the name that is being made may still have: types, and bytes of the names of its types.
  int types_left_ = 0;
  std::size_t text_left_ = 0;
};

}  // namespace mixwalk
