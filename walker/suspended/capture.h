#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "walker/suspended/managed_walk.h"
#include "walker/suspended/probe.h"
#include "walker/suspended/raw_sample.h"
#include "walker/suspended/thread_control.h"
#include "walker/suspended/unmoved_stack.h"

namespace mixwalk {

// The data that a capture may read while the thread is frozen. Made before the freeze.
struct CaptureView {
  const ModuleView& modules;
  const MemoryReader& code;    // images and their .pdata
  const MemoryReader& stack;   // the thread's live stack
  ManagedWalk* managed = nullptr;  // null means the copy engine, no CLR call under the freeze
  ProbePolicy policy = ProbePolicy::never;
  Probe* probe = nullptr;  // null if none passes where the policy wants one
  const UnmovedStack* last = nullptr;  // null if nothing is known of a sample before
  bool ask_at_risk = true;  // false if where a risk calls for a probe, the CLR is not asked at all
};

// Freezes one thread and copies its registers and stack. For a thread that ran managed code (clr_thread != 0) and where
// view.managed is set, finds the seed and has the CLR walk the thread; not where the thread has not moved since
// view.last, nor where it was suspended before. The thread runs again when this returns. Before the first CLR call the
// probe is asked, as the policy says. Frozen-safe: this function is everything that happens while the thread is frozen.
void capture(ThreadControl& thread, std::uint64_t clr_thread, const CaptureView& view,
             RawSample& sample) noexcept;

}  // namespace mixwalk
