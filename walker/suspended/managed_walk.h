#pragma once

#include <cstdint>

#include "unmanaged/step/registers.h"
#include "walker/suspended/raw_sample.h"

namespace mixwalk {

// The CLR, as far as it may be asked while a thread is frozen. Frozen-safe on our side: no allocation, no lock of ours,
// no look-up of names.
class ManagedWalk {
 public:
  // Whether the CLR knows this address as managed code. ReadyToRun code and stubs with IL count as managed code.
  virtual bool is_managed(std::uint64_t ip) noexcept = 0;

  // Calls DoStackSnapshot for the frozen thread; its frames go to sample.entry_buffer. `seed`: the registers of the
  // topmost managed frame, or null if none was found. It is never a guess, because a wrong seed makes the CLR read wild
  // memory. Sets entry_count, entries_cut, managed_walked and refusal.
  virtual void walk(std::uint64_t clr_thread, const Registers* seed, RawSample& sample) noexcept = 0;

 protected:
  ~ManagedWalk() = default;
};

}  // namespace mixwalk
