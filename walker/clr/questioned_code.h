#pragma once

#include <chrono>

#include "walker/clr/clr_questions.h"
#include "walker/merge/managed_code.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The answers of the runtime's debugging library about addresses. A function's id is the address of its MethodDesc. Not
// frozen-safe.
class QuestionedCode final : public ManagedCode {
 public:
  explicit QuestionedCode(ClrQuestions& clr) noexcept : clr_(clr) {}

  Function at(std::uint64_t ip) noexcept override;

 private:
  ClrQuestions& clr_;
};

// Gives frames of functions the function's name, and stubs their target (Frame::target). Stubs that the JIT has inlined
// become frames as well. The target follows from StackFrame::callee or from the managed frame that the stub called. A
// method that the library cannot name gets no name. Native frames in code that the runtime has made for itself become
// stubs, named by the code's kind. After `longest`, no more frames get names: a forged dump may have a million methods,
// each with the longest of names.
void name_functions(Snapshot& snapshot, ClrQuestions& clr, std::chrono::milliseconds longest = std::chrono::minutes(2));

// Gives managed frames their places in IL (Frame::il), and the snapshot its assemblies. Frames whose code belongs to
// another method by now get no place.
void add_il_places(Snapshot& snapshot, ClrQuestions& clr);

}  // namespace mixwalk
