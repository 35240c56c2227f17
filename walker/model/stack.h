#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "walker/model/frame.h"

namespace mixwalk {

// Which way a stack was walked.
enum class Engine : std::uint8_t {
  snapshot,  // seeded DoStackSnapshot, its holes filled
  copy,      // the copied stack, walked after the resume
  // Only for requests, never for a stack: copy where the thread may hold a lock of the runtime, otherwise snapshot.
  automatic,
};

// Whether a stack has all frames of its thread.
enum class Completeness : std::uint8_t {
  partial,  // a run is open, or there is no frame: some are missing
  guessed,  // every run has come to its end, but by guessed frames (is_guess): some may be missing, or be none
  whole,    // every run has come to its end, and nothing was cut off
};

// A thread's stack, leaf first. A stack may be partial: a gap frame marks what is missing, and the run that the gap
// belongs to says why.
struct Stack {
  std::vector<Frame> frames;
  std::vector<Run> runs;  // leaf first
  Engine engine = Engine::copy;
  // What DoStackSnapshot returned (an HRESULT), or why it was not called (suspended/refusal.h); 0 where it succeeded or
  // was not wanted. Where it refused, `engine` is copy.
  std::uint32_t refusal = 0;

  Completeness completeness() const noexcept;
  bool whole() const noexcept { return completeness() == Completeness::whole; }
  bool operator==(const Stack&) const = default;
};

}  // namespace mixwalk
