#pragma once

#include <cstdint>
#include <optional>

#include "unmanaged/step/memory_reader.h"
#include "walker/clr/clr_questions.h"

namespace mixwalk {

// Finds the System.Threading.Thread of a runtime's Thread where the runtime does not say where it is, as .NET 8. The
// runtime's Thread has a handle of the object, and the object has the address of the runtime's Thread in a field: the
// two must lead to each other. Nothing of the target is trusted. Not frozen-safe; one thread at a time.
class ThreadObjects {
 public:
  // The object's address; 0 if it is not found. `thread`: the address of a runtime's Thread.
  std::uint64_t object_of(std::uint64_t thread, const MemoryReader& memory, ClrQuestions& clr);

 private:
  std::uint64_t object_by(std::uint64_t handle, std::uint64_t thread, const MemoryReader& memory, ClrQuestions& clr);

  std::uint64_t method_table_ = 0;  // of System.Threading.Thread; 0 if it is not known yet
  std::uint32_t back_ = 0;          // the offset of the field that leads back
  std::optional<std::uint64_t> offset_;  // of the handle in the runtime's Thread
  int failed_ = 0;                       // for how many threads all offsets were tried in vain
};

}  // namespace mixwalk
