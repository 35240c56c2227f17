#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "walker/model/frame.h"

namespace mixwalk {

// How a stack was walked.
enum class Engine : std::uint8_t {
  snapshot,  // seeded DoStackSnapshot, with its holes filled
  copy,      // the copied stack, walked after the resume
  // Only for requests, never for a stack: `copy` if the thread may hold a lock of the runtime, otherwise `snapshot`.
  automatic,
};

// Whether a stack has all frames of its thread.
enum class Completeness : std::uint8_t {
  partial,  // a run is open, or there is no frame: frames are missing
  guessed,  // every run has come to its end, but by guessed frames (is_guess): frames may be missing or wrong
  whole,    // every run has come to its end, and nothing was cut off
};

// A thread's stack, leaf first. A stack may be partial: a gap frame is in the place of the missing frames, and the
// gap's run says why they are missing.
struct Stack {
  std::vector<Frame> frames;
  std::vector<Run> runs;  // leaf first
  Engine engine = Engine::copy;
  // What DoStackSnapshot returned (an HRESULT), or why it was not called (suspended/refusal.h); 0 if it succeeded or
  // was not wanted. If it refused, `engine` is copy.
  std::uint32_t refusal = 0;

  Completeness completeness() const noexcept;
  bool whole() const noexcept { return completeness() == Completeness::whole; }
  // Why frames are missing at this frame of the stack. None if the frame is no gap.
  OpenReason why_missing(const Frame& frame) const noexcept;
  bool operator==(const Stack&) const = default;
};

}  // namespace mixwalk
