#pragma once

#include "unmanaged/step/memory_reader.h"
#include "walker/outside/clr_questions.h"
#include "walker/outside/hidden_images.h"
#include "walker/outside/jitted_step.h"

namespace mixwalk {

// The step through code that a .NET runtime compiled, including stubs and dynamic methods: the runtime's debugging
// library says which method the code belongs to, and the header before the code has its unwind data (jitted_code.h).
// For code that the library does not know the result is no_unwind, for code whose header cannot be read
// unreadable_unwind. Code that was compiled ahead of time and lies in no listed image has the unwind data of its image
// (hidden_images.h). Not frozen-safe; both arguments must outlive this object.
class ClrJittedStep final : public JittedStep {
 public:
  ClrJittedStep(ClrQuestions& clr, const MemoryReader& memory) : clr_(clr), memory_(memory), hidden_(memory) {}

  StepResult step(Cursor& frame, LeafRule leaf, const StackCopy& stack) noexcept override;
  // Forgets the images that were found, since the target has run.
  void forget() { hidden_.forget(); }

 private:
  StepResult step_in_image(Cursor& frame, const StackCopy& stack);

  ClrQuestions& clr_;
  const MemoryReader& memory_;
  HiddenImages hidden_;
};

}  // namespace mixwalk
