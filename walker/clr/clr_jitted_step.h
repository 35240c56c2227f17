#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"
#include "walker/clr/clr_questions.h"
#include "walker/clr/jitted_step.h"
#include "walker/target/hidden_images.h"

namespace mixwalk {

// The step through code that a .NET runtime compiled, including stubs and dynamic methods. The runtime's debugging
// library says which method the code belongs to, and the header before the code has its unwind data (jitted_code.h).
// The result is no_unwind for code that the library does not know, and unreadable_unwind for code whose header cannot
// be read. Code that was compiled ahead of time and is in no listed image has the unwind data of its image
// (hidden_images.h). Not frozen-safe; both arguments must outlive this object.
class ClrJittedStep final : public JittedStep {
 public:
  ClrJittedStep(ClrQuestions& clr, const MemoryReader& memory) : clr_(clr), memory_(memory), hidden_(memory) {}

  StepResult step(Cursor& frame, LeafRule leaf, const StackCopy& stack) noexcept override;
  // To be called when the target has run: forgets the images that were found.
  void forget() { hidden_.forget(); }

 private:
  // `image_base`: as in ClrCode.
  StepResult step_in_image(std::uint64_t image_base, Cursor& frame, const StackCopy& stack);

  ClrQuestions& clr_;
  const MemoryReader& memory_;
  HiddenImages hidden_;
};

}  // namespace mixwalk
