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
  // Of a request, never of a stack: copy where the thread may hold a lock of the runtime, else snapshot.
  automatic,
};

// A thread's stack, leaf first. Partial is normal: what is missing is a gap frame, and the run
// that it belongs to says why.
struct Stack {
  std::vector<Frame> frames;
  std::vector<Run> runs;  // leaf first
  Engine engine = Engine::copy;
  // What DoStackSnapshot returned (an HRESULT), or why it was not called (suspended/refusal.h); 0
  // where it succeeded or was not wanted. When it refused, `engine` is copy.
  std::uint32_t refusal = 0;

  // Every run closed or at the root, and nothing cut off.
  bool whole() const noexcept;
  bool operator==(const Stack&) const = default;
};

}  // namespace mixwalk
