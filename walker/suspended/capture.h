#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "walker/suspended/managed_walk.h"
#include "walker/suspended/raw_sample.h"
#include "walker/suspended/thread_control.h"

namespace mixwalk {

// What a capture may look at while the thread is frozen. Made before the freeze.
struct CaptureView {
  const ModuleView& modules;
  const MemoryReader& code;  // images and their .pdata; reads must not fault
  ManagedWalk* managed;      // null: the copy engine, no CLR call under the freeze
};

// Freezes one thread, copies its registers and stack, and, for a thread that ran managed code
// (clr_thread != 0) and view.managed set, finds the seed and has the CLR walk it. The thread runs
// again when this returns. Frozen-safe: this is the whole of what happens while it stands.
void capture(ThreadControl& thread, std::uint64_t clr_thread, const CaptureView& view,
             RawSample& sample) noexcept;

}  // namespace mixwalk
