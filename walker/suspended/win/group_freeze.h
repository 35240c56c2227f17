#pragma once

#include <windows.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "walker/base/win/tick_clock.h"
#include "walker/suspended/thread_group.h"
#include "walker/suspended/win/heartbeat.h"
#include "walker/suspended/win/thread_handle.h"
#include "walker/suspended/win/windows_freeze.h"

namespace mixwalk {

// Threads of this process that are suspended together, under one deadline. Each suspension is in the ledger, like that
// of a single freeze, and is undone by whichever of these takes it there first: the thread that suspends, the
// supervisor, or mixwalk.exe.
//
// One thread fills and freezes a group; the supervisor's thread calls look().
class GroupFreeze final : public ThreadGroup {
 public:
  // The ledger has this many slots, less some for single freezes.
  static constexpr std::size_t kMax = LedgerPage::kSlots - 24;

  // `heartbeat` is that of the supervisor that calls look().
  GroupFreeze(LedgerPage& ledger, DWORD deadline_ms, const Heartbeat& heartbeat,
              ResumeFunction resume) noexcept
      : ledger_(ledger), deadline_ns_(std::uint64_t{deadline_ms} * 1'000'000), heartbeat_(heartbeat), resume_(resume) {}

  // Not frozen-safe. Empties the group. Threads that are added must stay open and keep their addresses until the next
  // clear(). The first call may throw std::bad_alloc, later ones do not.
  void clear();
  // Returns false if the group is full.
  bool add(const ThreadHandle& thread) noexcept;

  std::size_t size() const noexcept { return size_; }
  void begin() noexcept override;
  void end() noexcept override;
  Suspend suspend(std::size_t place) noexcept override;
  void resume(std::size_t place) noexcept override;
  bool read_registers(std::size_t place, Registers& registers) noexcept override {
    return members_[place].thread->read_context().put(registers, members_[place].in_dispatch);
  }
  bool in_dispatch(std::size_t place) const noexcept override { return members_[place].in_dispatch; }
  StackLimits stack_limits(std::size_t place) const noexcept override {
    return members_[place].thread->stack_limits();
  }
  bool overdue(std::size_t place) const noexcept override;
  std::uint64_t last_frozen_ns() const noexcept override { return clock_.in_ns(last_frozen_ticks_.load()); }
  std::uint64_t now_ns() const noexcept override { return clock_.now_ns(); }

  // Called by the supervisor's thread: resumes a group that has been frozen for too long at now_ns, by the clock of
  // now_ns().
  void look(std::uint64_t now_ns) noexcept;
  // How long the group may stay frozen from now_ns on; kForEverNs if it is not frozen.
  static constexpr std::uint64_t kForEverNs = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t left_ns(std::uint64_t now_ns) const noexcept;

 private:
  struct Member {
    const ThreadHandle* thread = nullptr;
    std::atomic<HANDLE> handle{nullptr};  // read by the supervisor
    WindowsFreeze freeze;
    bool in_dispatch = false;
  };
  // frozen → idle (end), or frozen → resuming (the supervisor's) → overdue → idle. As in Supervisor, a
  // state is a phase and, above it, the number of the freeze.
  enum class Phase : std::uint64_t { idle, frozen, resuming, overdue };
  using State = std::uint64_t;
  static constexpr State kPhaseBits = 0x3;
  static Phase phase_of(State state) noexcept { return static_cast<Phase>(state & kPhaseBits); }
  static State with(State state, Phase phase) noexcept {
    return (state & ~kPhaseBits) | static_cast<State>(phase);
  }

  LedgerPage& ledger_;
  const std::uint64_t deadline_ns_;
  const Heartbeat& heartbeat_;
  const ResumeFunction resume_;
  // Created once, and kept, because a supervisor that the program has stopped may access it much later.
  std::unique_ptr<Member[]> members_;
  std::size_t size_ = 0;
  std::atomic<std::size_t> reached_{0};  // how many members suspend() has reached
  std::atomic<State> state_{0};
  std::atomic<std::uint64_t> since_ns_{0};  // when begin() was called
  std::atomic<std::uint64_t> last_frozen_ticks_{0};
  TickClock clock_;
};

}  // namespace mixwalk
