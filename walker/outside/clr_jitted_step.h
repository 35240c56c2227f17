#pragma once

#include "unmanaged/step/memory_reader.h"
#include "walker/outside/clr_questions.h"
#include "walker/outside/jitted_step.h"

namespace mixwalk {

// The step through code that a .NET runtime compiled, stubs and dynamic methods included: the runtime's debugging
// library says which method the code is of, the header before the code has its unwind data (jitted_code.h). Code
// that the library does not know is no_unwind; code whose header cannot be read is unreadable_unwind. Not
// frozen-safe; both must outlive this.
class ClrJittedStep final : public JittedStep {
 public:
  ClrJittedStep(ClrQuestions& clr, const MemoryReader& memory) noexcept : clr_(clr), memory_(memory) {}

  StepResult step(Cursor& frame, LeafRule leaf, const StackCopy& stack) noexcept override;

 private:
  ClrQuestions& clr_;
  const MemoryReader& memory_;
};

}  // namespace mixwalk
