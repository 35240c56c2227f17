#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "unmanaged/step/module_view.h"
#include "unmanaged/step/native_run.h"
#include "unmanaged/step/unwind_step.h"
#include "walker/merge/guessing_step.h"
#include "walker/merge/managed_code.h"
#include "walker/merge/runtime_call.h"
#include "walker/model/stack.h"
#include "walker/suspended/raw_sample.h"

namespace mixwalk {

// More frames than any real stack has, since the default 1.5 MiB of a .NET thread holds 49,152 frames of 32 bytes. A
// walk that goes in circles ends here at the latest.
inline constexpr std::size_t kMaxFrames = 65'536;

// Everything that a merge reads besides the sample. `step` must walk the sample's own stack copy. `scratch` limits the
// frames of a run (kMaxFrames for real stacks). The caller provides it, since a recording merges a hundred times a
// second.
struct MergeView {
  UnwindStep& step;
  ManagedCode& managed;
  const ModuleView& modules;
  std::span<RunFrame> scratch;
  // A walk takes some 100 µs, and 65,536 frames take some 100 ms. A walk that takes longer than this is wrong, and
  // meanwhile the program has one processor less.
  std::chrono::milliseconds longest = std::chrono::seconds(1);
  // The walk ends at this time of steady_time_ns(), however little it has done. It is that of all walks together: steps
  // in a dump that somebody has forged may take as long as they like.
  std::uint64_t end_ns = std::numeric_limits<std::uint64_t>::max();
  // If this is null, the walk ends at code that has no unwind data.
  const GuessView* guess = nullptr;
  // For a walk of the copy: the calls that the runtime has noted, leaf first. A guess must lead to the caller of the
  // next call, and where no frame can be found, the walk goes on there. A walk by unwind data that passes a caller
  // counts nevertheless: no such walk was seen (docs/contracts.md), and the list of a live thread may be older than the
  // copy.
  std::span<const RuntimeCall> calls = {};
};

// Makes a whole stack from a raw sample. Pure: all addresses are the target's, and names are added later.
//
// If the CLR walked the thread, its managed frames are the fixed points. Every native run between two of them (a
// callback with funcId = 0 and its registers) is unwound until it meets the next managed frame. If the CLR was not
// asked, or refused, the copy is walked from its top to its root, and the CLR says which frames are managed. Both give
// the same stacks. Frame::module is the index of the module in view.modules.
Stack merge(const RawSample& sample, const MergeView& view);

}  // namespace mixwalk
