#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "unmanaged/step/registers.h"
#include "unmanaged/step/stack_copy.h"
#include "walker/suspended/probe.h"
#include "walker/suspended/refusal.h"

namespace mixwalk {

// One callback of DoStackSnapshot: a managed frame or, if `function` is 0, the start of a native run.
struct ManagedEntry {
  std::uint64_t function = 0;  // FunctionID
  std::uint64_t ip = 0;
  Registers registers;
};

// The reason why a thread's stack was not copied.
enum class CaptureFault : std::uint8_t {
  none,
  not_suspended,  // SuspendThread or GetThreadContext failed: the thread is ending, or the system refuses
  off_stack,      // Rsp is not on the thread's own stack (a fiber, a foreign stack)
  overdue,        // the supervisor resumed it before its stack was copied
  not_now,        // nothing may be suspended at the moment, or the registers are those of no one moment
  no_room,        // the stacks of the group's other threads left no room for this one
};

// The result of one freeze of one thread. Filling it is frozen-safe, since its buffers were allocated before the
// freeze. The caller owns every buffer.
struct RawSample {
  RawSample(std::span<std::byte> stack_buffer, std::span<ManagedEntry> entry_buffer) noexcept
      : stack(stack_buffer), entry_buffer(entry_buffer) {}

  void clear() noexcept {
    fault = CaptureFault::none;
    context = {};
    stack.clear();
    entry_count = 0;
    entries_cut = false;
    managed_walked = false;
    refusal = 0;
    probe = ProbeResult::none;
    overdue = false;
    unmoved = false;
    at_risk = false;
    in_dispatch = false;
    stopping_ns = 0;
    frozen_ns = 0;
  }

  std::span<const ManagedEntry> entries() const noexcept { return entry_buffer.first(entry_count); }

  CaptureFault fault = CaptureFault::none;
  Registers context;  // of the thread as it was frozen
  StackCopy stack;

  bool managed_walked = false;  // DoStackSnapshot was called and returned S_OK
  std::uint32_t refusal = 0;    // what it returned otherwise, or why it was not called; 0 if not wanted
  ProbeResult probe = ProbeResult::none;
  bool overdue = false;  // the supervisor ended the freeze
  bool unmoved = false;  // it is where it was at its last sample, so the CLR was not asked
  bool at_risk = false;  // it may hold a lock of the runtime, so the CLR was not asked
  // The system was just sending the thread an exception, so the registers may be of two moments. The thread is to be
  // looked at again, if that was not done before.
  bool in_dispatch = false;
  std::size_t entry_count = 0;
  bool entries_cut = false;  // more callbacks came than the buffer holds
  // stopping_ns is the time from before SuspendThread until the thread had stopped; it depends on the system's
  // scheduling. frozen_ns is the time from then until the thread ran again.
  std::uint64_t stopping_ns = 0, frozen_ns = 0;

  std::span<ManagedEntry> entry_buffer;
};

}  // namespace mixwalk
