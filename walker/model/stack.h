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

// A thread's stack, leaf first. A stack may be partial: a gap frame is in the place of the missing frames, and says why
// they are missing.
struct Stack {
  std::vector<StackFrame> frames;
  Engine engine = Engine::copy;
  // What DoStackSnapshot returned (an HRESULT), or why it was not called (suspended/refusal.h); 0 if it succeeded or
  // was not wanted. If it refused, `engine` is copy.
  std::uint32_t refusal = 0;

  // Only for a stack from which frames were left out (a JSON document with a filter): the runs of the whole stack.
  std::vector<Run> runs_of_whole = {};

  // The native runs, leaf first. They follow from the frames: a run continues up to a managed frame, its own gap, or
  // the thread's root.
  std::vector<Run> runs() const;
  // For each frame, the index of its run in `runs`, which are runs(); kNone for a managed frame.
  std::vector<std::int32_t> run_of_frames(const std::vector<Run>& runs) const;
  Completeness completeness() const noexcept;
  bool whole() const noexcept { return completeness() == Completeness::whole; }
  bool operator==(const Stack&) const = default;
};

}  // namespace mixwalk
