#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Reads exception objects of managed code from a target's memory. Nothing that is read is trusted. Not frozen-safe.
class ExceptionObjects {
 public:
  // `memory` and `clr` must outlive this object.
  ExceptionObjects(const MemoryReader& memory, ClrQuestions& clr, const Runtime& runtime);

  // The exception at this address and its inner exceptions, each with its type, its message, its HRESULT and its own
  // stack trace. Empty if no object is there.
  std::vector<CrashObject> from(std::uint64_t object);
  // Whether the exception's own stack trace begins at this instruction, with this Rsp.
  bool began_at(std::uint64_t object, std::uint64_t ip, std::uint64_t rsp);
  // The only text to which a word of this part of a stack leads: to the object, or, in native code, to its first
  // character. Empty if there are several.
  std::string only_text(std::uint64_t from, std::uint64_t end);

 private:
  struct TraceElement {
    std::uint64_t ip = 0, rsp = 0, method = 0;  // the MethodDesc
  };

  std::uint64_t word(std::uint64_t address) const { return memory_.read_value<std::uint64_t>(address).value_or(0); }
  // Empty if no object is there.
  std::string type_of(std::uint64_t object);
  std::string text_at(std::uint64_t text);
  std::vector<TraceElement> trace_of(std::uint64_t object);

  const MemoryReader& memory_;
  ClrQuestions& clr_;
  std::optional<std::uint64_t> hresult_;  // the place of _HResult; nothing if it is not known
};

}  // namespace mixwalk
