#pragma once

#include "walker/managed_code.h"
#include "walker/model/snapshot.h"
#include "walker/outside/clr_questions.h"

namespace mixwalk {

// What the runtime's debugging library says of an address. A function's id is the address of its MethodDesc. Not
// frozen-safe.
class QuestionedCode final : public ManagedCode {
 public:
  explicit QuestionedCode(ClrQuestions& clr) noexcept : clr_(clr) {}

  Function at(std::uint64_t ip) noexcept override;

 private:
  ClrQuestions& clr_;
};

// Gives the frames that have a function its name, and stubs what they lead to (Frame::target), by Frame::callee or by the
// managed frame that they called. A method that the library cannot name stays without one.
void name_functions(Snapshot& snapshot, ClrQuestions& clr);

// Gives the managed frames their places in IL (Frame::il), and the snapshot their assemblies. Frames whose code is that
// of another method by now get none.
void add_il_places(Snapshot& snapshot, ClrQuestions& clr);

}  // namespace mixwalk
