#pragma once

#include <windows.h>

#include "walker/base/win/tick_clock.h"
#include "walker/suspended/thread_control.h"
#include "walker/suspended/win/supervisor.h"
#include "walker/suspended/win/thread_handle.h"

namespace mixwalk {

// A thread of this process that is suspended by SuspendThread. open() is not frozen-safe, all other functions are.
class WindowsThread final : public ThreadControl {
 public:
  explicit WindowsThread(Supervisor& supervisor) noexcept : supervisor_(supervisor) {}

  bool open(DWORD thread_id) noexcept { return thread_.open(thread_id); }
  const ThreadHandle& thread() const noexcept { return thread_; }
  HANDLE handle() const noexcept { return thread_.get(); }

  Suspend suspend() noexcept override;
  void resume() noexcept override;
  bool read_registers(Registers& registers) noexcept override {
    return thread_.read_context().put(registers, in_dispatch_);
  }
  bool in_dispatch() const noexcept override { return in_dispatch_; }
  bool suspended_by_others() const noexcept override { return suspended_before_ != 0; }
  StackLimits stack_limits() const noexcept override { return thread_.stack_limits(); }
  bool overdue() const noexcept override { return supervisor_.overdue(); }
  std::uint64_t last_frozen_ns() const noexcept override { return clock_.in_ns(supervisor_.last_frozen_ticks()); }
  std::uint64_t now_ns() const noexcept override { return clock_.now_ns(); }

 private:
  Supervisor& supervisor_;
  ThreadHandle thread_;
  bool in_dispatch_ = false;
  DWORD suspended_before_ = 0;  // how often it was already suspended at our SuspendThread
  TickClock clock_;
};

}  // namespace mixwalk
