#pragma once

#include <windows.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/win/tick_clock.h"
#include "walker/suspended/thread_group.h"
#include "walker/target/suspension/outside_thread.h"

namespace mixwalk {

// Threads of another process that are suspended together, for one capture_group(). A thread of mixwalk.exe resumes all
// of them at the deadline, so that one thread that does not stop in time does not keep the others suspended.
class OutsideGroup final : public ThreadGroup {
 public:
  // The threads stay open, and keep their addresses. Starts the thread that watches the deadline.
  OutsideGroup(std::span<OutsideThread* const> threads, std::uint32_t deadline_ms);
  ~OutsideGroup();
  OutsideGroup(const OutsideGroup&) = delete;
  OutsideGroup& operator=(const OutsideGroup&) = delete;

  void begin() noexcept override { SetEvent(begun_.get()); }
  void end() noexcept override { SetEvent(ended_.get()); }
  Suspend suspend(std::size_t place) noexcept override;
  void resume(std::size_t place) noexcept override;
  bool read_registers(std::size_t place, Registers& registers) noexcept override {
    return threads_[place]->read_registers(registers);
  }
  bool in_dispatch(std::size_t place) const noexcept override { return threads_[place]->in_dispatch(); }
  StackLimits stack_limits(std::size_t place) const noexcept override { return threads_[place]->stack_limits(); }
  bool overdue(std::size_t) const noexcept override { return last_frozen_ns_.load() != 0; }
  std::uint64_t last_frozen_ns() const noexcept override { return last_frozen_ns_.load(); }
  std::uint64_t now_ns() const noexcept override { return clock_.now_ns(); }

 private:
  void watch(std::uint32_t deadline_ms) noexcept;

  const std::span<OutsideThread* const> threads_;
  // A thread must take one of these before it resumes the thread of the group. Both the group's own thread and the
  // watching one may do so.
  const std::unique_ptr<std::atomic<bool>[]> suspended_;
  std::atomic<std::uint64_t> last_frozen_ns_{0};
  const UniqueHandle begun_, ended_;
  TickClock clock_;
  std::thread watcher_;
};

}  // namespace mixwalk
