#pragma once

#include <windows.h>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/win/tick_clock.h"
#include "walker/suspended/thread_control.h"
#include "walker/suspended/win/supervisor.h"

namespace mixwalk {

// A thread of this process under SuspendThread. open() is not frozen-safe, all else is.
class WindowsThread final : public ThreadControl {
 public:
  explicit WindowsThread(Supervisor& supervisor) noexcept : supervisor_(supervisor) {}

  // False: the thread has ended, or this process may not open it. Costs nothing where it is open
  // already.
  bool open(DWORD thread_id) noexcept;
  HANDLE handle() const noexcept { return handle_.get(); }

  bool suspend() noexcept override;
  void resume() noexcept override;
  bool read_registers(Registers& registers) noexcept override;
  bool suspended_by_others() const noexcept override { return suspended_before_ != 0; }
  StackLimits stack_limits() const noexcept override;
  bool overdue() const noexcept override { return supervisor_.overdue(); }
  std::uint64_t let_go_ns() const noexcept override { return clock_.in_ns(supervisor_.let_go_ticks()); }
  std::uint64_t now_ns() const noexcept override { return clock_.now_ns(); }

 private:
  Supervisor& supervisor_;
  UniqueHandle handle_;
  DWORD id_ = 0;  // of the thread that handle_ is; 0: none
  std::uint64_t teb_ = 0;
  DWORD suspended_before_ = 0;  // how often it was suspended when we did so
  TickClock clock_;
};

}  // namespace mixwalk
