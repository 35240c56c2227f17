#pragma once

#include <cstdint>

#include "unmanaged/step/leaf_step.h"
#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/stack_copy.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// The maximum length of code without unwind data outside the images: the runtime's thunks and barriers have some 100
// bytes.
inline constexpr std::uint64_t kMaxOutsideLeafBytes = 4096;

// A frame that unwind data led to, together with the frame from which the step was made.
struct FoundCaller {
  const Cursor& caller;
  const ModuleSpan* module = nullptr;  // the image of the caller; null if it is in no image
  const ModuleSpan* callee = nullptr;  // the image of the frame stepped from; null if it is in no image
  bool guessed = false;                // the frame stepped from was a guess
};

// Checks whether the frame that was found can be a caller: a root, code of an image, or code outside the images that
// stands directly behind a call. Frozen-safe if the readers of `leaf` are.
StepFault check_caller(const FoundCaller& found, const StackCopy& stack, LeafStep& leaf,
                       const MemoryReader& code) noexcept;

}  // namespace mixwalk
