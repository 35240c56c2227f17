#pragma once

#include <cstdint>

#include "unmanaged/step/registers.h"

namespace mixwalk {

// The committed part of a thread's stack, from the TEB. For a thread that is on its own stack, limit <= Rsp < base.
struct StackLimits {
  std::uint64_t limit = 0;
  std::uint64_t base = 0;
  bool contains(std::uint64_t rsp) const noexcept { return rsp >= limit && rsp < base; }
};

// What came of an attempt to suspend a thread.
enum class Suspend : std::uint8_t {
  done,
  ending,   // SuspendThread failed
  not_now,  // nothing may be suspended now, or the time for the group is over; the thread runs
};

// One thread of this process that can be frozen. Frozen-safe: NO HEAP ALLOCATION, no lock and no logging in any of
// these functions, not even through a failed check. (The scope of this interface follows Chromium's base/profiler.)
class ThreadControl {
 public:
  virtual Suspend suspend() noexcept = 0;
  // Undoes suspend(), even if a supervisor has already done so.
  virtual void resume() noexcept = 0;
  // To be called only while the thread is suspended. On Windows this call also waits until the thread has really
  // stopped.
  virtual bool read_registers(Registers& registers) noexcept = 0;
  // To be called after read_registers(). Whether the system was just sending the thread an exception, so that its
  // registers may be of two moments.
  virtual bool in_dispatch() const noexcept { return false; }
  // To be called only while the thread is suspended. Whether others had suspended the thread before suspend(): the
  // program, a debugger or the CLR. Such a thread may be copied, but the CLR may not be asked to walk it.
  virtual bool suspended_by_others() const noexcept = 0;
  virtual StackLimits stack_limits() const noexcept = 0;
  // Whether a supervisor is resuming the thread, or has done so since suspend().
  virtual bool overdue() const noexcept = 0;
  // For an overdue thread: the last moment at which it was still frozen, by now_ns().
  virtual std::uint64_t last_frozen_ns() const noexcept = 0;
  // A monotonic clock, in nanoseconds.
  virtual std::uint64_t now_ns() const noexcept = 0;

 protected:
  ~ThreadControl() = default;
};

// The thread is frozen while this object lives.
class ScopedSuspension {
 public:
  explicit ScopedSuspension(ThreadControl& thread) noexcept
      : thread_(thread), result_(thread.suspend()) {}
  ~ScopedSuspension() {
    if (result_ == Suspend::done) thread_.resume();
  }
  ScopedSuspension(const ScopedSuspension&) = delete;
  ScopedSuspension& operator=(const ScopedSuspension&) = delete;

  explicit operator bool() const noexcept { return result_ == Suspend::done; }
  Suspend result() const noexcept { return result_; }

 private:
  ThreadControl& thread_;
  Suspend result_;
};

}  // namespace mixwalk
