#pragma once

#include <cstddef>
#include <span>

#include "unmanaged/step/native_run.h"
#include "walker/merge/merge.h"
#include "walker/profiler/pages.h"
#include "walker/suspended/raw_sample.h"

namespace mixwalk {

// The memory that a freeze writes to, allocated once, before the first freeze. Zeroed pages are valid objects of all
// four types.
class SampleBuffers {
 public:
  // The largest stack that is copied whole. It is eight times the default of a .NET thread.
  static constexpr std::size_t kStackBytes = 12 << 20;

  // Returns false if the process had no memory left for the buffers. Nothing can be sampled then.
  bool ready() const noexcept { return !stack_.empty() && !entries_.empty() && !frames_.empty() && !guess_.empty(); }
  std::span<std::byte> stack() const noexcept { return stack_.all(); }
  std::span<ManagedEntry> entries() const noexcept { return entries_.all(); }
  std::span<RunFrame> frames() const noexcept { return frames_.all(); }
  GuessScratch& guess() const noexcept { return guess_.all().front(); }

 private:
  Pages<std::byte> stack_{kStackBytes};
  Pages<ManagedEntry> entries_{kMaxFrames};
  Pages<RunFrame> frames_{kMaxFrames};
  Pages<GuessScratch> guess_{1};
};

}  // namespace mixwalk
