#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "walker/model/stack.h"

namespace mixwalk {

// Frames of a stack that only repeat the frames before them, as in a recursion without an end.
struct RepeatedFrames {
  std::ptrdiff_t first = 0;  // the first frame that is left out, as an index into the shown frames
  std::size_t period = 0;    // how many frames before it are repeated
  std::size_t times = 0;

  std::ptrdiff_t end() const noexcept { return first + static_cast<std::ptrdiff_t>(period * times); }
};

// Finds such frames, from the leaf on. `shown`: indices into stack.frames. Frames are the same if their code is at the
// same address and has the same name. Short recursions are left as they are. Pure.
std::vector<RepeatedFrames> repeated_frames(const Stack& stack, std::span<const std::size_t> shown);

}  // namespace mixwalk
