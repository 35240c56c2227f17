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

// The data that a capture may read while the thread is frozen. To be made before the freeze.
struct CaptureView {
  const ModuleView& modules;
  const MemoryReader& code;    // images and their .pdata
  const MemoryReader& stack;   // the thread's live stack
  ManagedWalk* managed = nullptr;  // null for the copy engine: no CLR call under the freeze
  ProbePolicy policy = ProbePolicy::never;
  Probe* probe = nullptr;  // null if there is no probe: none passes when the policy asks for one
  const UnmovedStack* last = nullptr;  // null if nothing is known about an earlier sample
  bool ask_at_risk = true;  // false: if a risk calls for a probe, the CLR is not asked at all
};

// Freezes one thread and copies its registers and stack. If the thread ran managed code (clr_thread != 0) and
// view.managed is set, this also finds the seed and has the CLR walk the thread, except when the thread has not moved
// since view.last, or when it was suspended before. The thread runs again when this returns. Before the first CLR call
// the probe is asked, as the policy says. Frozen-safe: this function is everything that happens while the thread is
// frozen.
void capture(ThreadControl& thread, std::uint64_t clr_thread, const CaptureView& view,
             RawSample& sample) noexcept;

}  // namespace mixwalk
