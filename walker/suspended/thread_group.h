#pragma once

#include <cstddef>
#include <cstdint>

#include "unmanaged/step/registers.h"
#include "walker/suspended/thread_control.h"

namespace mixwalk {

// Threads of this process that are frozen together. They are named by their indices from 0 on. Frozen-safe, as
// ThreadControl is.
class ThreadGroup {
 public:
  // begin() is called before all other functions, end() after them. From begin() on, the supervisor counts the time of
  // the whole group.
  virtual void begin() noexcept = 0;
  virtual void end() noexcept = 0;

  virtual Suspend suspend(std::size_t place) noexcept = 0;
  // Undoes suspend(), even if a supervisor has already done so.
  virtual void resume(std::size_t place) noexcept = 0;
  // To be called only while the thread is suspended. Waits until the thread has really stopped.
  virtual bool read_registers(std::size_t place, Registers& registers) noexcept = 0;
  // As ThreadControl::in_dispatch().
  virtual bool in_dispatch(std::size_t /*place*/) const noexcept { return false; }
  virtual StackLimits stack_limits(std::size_t place) const noexcept = 0;
  // Whether a supervisor is resuming threads of the group, this one among them, or has done so since begin(). This
  // becomes true before the first of them runs.
  virtual bool overdue(std::size_t place) const noexcept = 0;
  // The last moment at which an overdue group was still frozen, by now_ns(); 0 if it has not been overdue since
  // begin().
  virtual std::uint64_t last_frozen_ns() const noexcept = 0;
  // A monotonic clock, in nanoseconds.
  virtual std::uint64_t now_ns() const noexcept = 0;

 protected:
  ~ThreadGroup() = default;
};

}  // namespace mixwalk
