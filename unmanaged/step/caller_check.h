#pragma once

#include <cstdint>

#include "unmanaged/step/leaf_step.h"
#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/stack_copy.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// How long code without unwind data can be outside the images: the runtime's thunks and barriers
// have some 100 bytes.
inline constexpr std::uint64_t kMaxOutsideLeafBytes = 4096;

// A frame that unwind data led to, and the one that it was led from.
struct FoundCaller {
  const Cursor& caller;
  const ModuleSpan* module = nullptr;  // the image of the caller; null: in none
  const ModuleSpan* callee = nullptr;  // the image of the frame stepped from; null: in none
  bool guessed = false;                // the frame stepped from was a guess
};

// Whether such a frame can be a caller: a root, code of an image, or code outside the images right behind a call.
// Frozen-safe if what `leaf` asks is.
StepFault check_caller(const FoundCaller& found, const StackCopy& stack, LeafStep& leaf,
                       const MemoryReader& code) noexcept;

}  // namespace mixwalk
