#pragma once

#include <windows.h>

#include <cstdint>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/win/tick_clock.h"
#include "walker/suspended/thread_control.h"
#include "walker/target/suspension/suspension_ledger.h"

namespace mixwalk {

// A thread of another process that can be suspended. While it is suspended, only the target's registers and memory are
// read. The destructor of ScopedSuspension undoes the suspension; a console event that ends mixwalk.exe waits for that
// (suspension_gate.h).
class OutsideThread final : public ThreadControl {
 public:
  // Returns false if the thread has ended, belongs to another process, or may not be opened.
  bool open(std::uint32_t thread_id, std::uint32_t process_id) noexcept;
  HANDLE handle() const noexcept { return handle_.get(); }
  std::uint64_t teb() const noexcept { return teb_; }
  // Sets the limits of the thread's stack. They were read while it ran. That is correct because the base never changes.
  void set_limits(const StackLimits& limits) noexcept { limits_ = limits; }

  Suspend suspend() noexcept override;
  void resume() noexcept override;
  bool read_registers(Registers& registers) noexcept override;
  bool in_dispatch() const noexcept override { return in_dispatch_; }
  bool suspended_by_others() const noexcept override { return suspended_before_ != 0; }
  StackLimits stack_limits() const noexcept override { return limits_; }
  bool overdue() const noexcept override { return false; }
  std::uint64_t last_frozen_ns() const noexcept override { return 0; }
  std::uint64_t now_ns() const noexcept override { return clock_.now_ns(); }

 private:
  UniqueHandle handle_;
  std::uint32_t id_ = 0;
  SuspensionEntry entry_;
  std::uint64_t teb_ = 0;
  StackLimits limits_;
  bool in_dispatch_ = false;
  DWORD suspended_before_ = 0;
  TickClock clock_;
};

}  // namespace mixwalk
