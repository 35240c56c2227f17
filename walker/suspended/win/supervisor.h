#pragma once

#include <windows.h>

#include <atomic>
#include <cstdint>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/win/precise_wait.h"
#include "walker/base/win/tick_clock.h"
#include "walker/suspended/deadline.h"
#include "walker/suspended/freeze_ledger.h"
#include "walker/suspended/watched_time.h"
#include "walker/suspended/win/group_freeze.h"
#include "walker/suspended/win/heartbeat.h"
#include "walker/suspended/win/windows_freeze.h"

namespace mixwalk {

// Ends a freeze that lasts too long. The supervisor's thread never uses the CLR, the heap or the loader. So the target
// runs again after the deadline, whichever lock the sampler waits for and whichever thread holds it. Then the sampler
// runs again, too.
//
// Folklore: a sampler that waits for a lock which the frozen thread holds waits for ever. The lock of the dynamic
// function table (under RtlGrowFunctionTable) and the loader's lock (under LdrLoadDll) were both seen within seconds.
// Only another thread can resume the frozen one.
class Supervisor {
 public:
  // Every suspension is written into `ledger`. The ledger must outlive this object.
  explicit Supervisor(LedgerPage& ledger, DWORD deadline_ms = kDefaultDeadlineMs,
                      ResumeFunction resume = &ResumeThread) noexcept
      : ledger_(ledger),
        deadline_ns_(std::uint64_t{deadline_ms} * 1'000'000),
        resume_(resume),
        group_(ledger, deadline_ms, heartbeat_, resume) {}
  ~Supervisor() { stop(); }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Not frozen-safe. start() starts the supervising thread and returns false if no thread could be created, or the
  // thread does not run within that time. stop() joins the thread, and waits without a limit if the system does not let
  // the thread end; nothing may be frozen or claimed meanwhile.
  bool start(DWORD start_ms = kDefaultStartMs) noexcept;
  void stop() noexcept;
  DWORD thread_id() const noexcept { return thread_id_; }  // 0 if no thread could be created
  // Whether the supervising thread has not looked for so long that the program may have stopped it. Nothing is frozen
  // as long as it is silent.
  bool is_silent() const noexcept { return heartbeat_.is_silent(); }
  // Why the supervising thread is silent: the program has suspended or ended it, or it gets no processor.
  enum class Silence { none, stopped, late };
  // Waits until the supervising thread looks again, and returns `none` then. Returns `stopped` if that thread has
  // ended, or is suspended after half a second. Returns `late` if it is neither, and has not looked within limit_ms,
  // but not before half a second. To be called between start() and stop(). Not frozen-safe: nothing may be frozen or
  // claimed.
  //
  // Folklore: silence does not prove that the program has stopped the thread. Real case: on a machine that was ten
  // times slower for a minute, the thread did not run for two seconds, and a dump ended with "the program has stopped
  // the thread of mixwalk.dll" (hunt_test). Remedy: this function. Tests: SupervisorTest, SupervisorThreadTest.
  Silence wait_while_silent(DWORD limit_ms) const noexcept;
  // The threads that are frozen together, under the same deadline. They are never frozen at the same time as a single
  // thread.
  GroupFreeze& group() noexcept { return group_; }

  // Everything below is frozen-safe, and is called by one thread at a time, the one that suspends. before_suspend() is
  // called before SuspendThread and begin() after it. end() undoes that one suspension, unless the supervisor or
  // mixwalk.exe has undone it already.
  //
  // Returns false if nothing may be suspended now, because the supervisor is silent, or because the ledger is full.
  bool before_suspend(DWORD thread_id) noexcept;
  void not_suspended() noexcept { freeze_.end(); }  // to be called if SuspendThread has failed
  // `before`: what SuspendThread returned. Returns false if mixwalk.exe has taken the suspension; no suspension of ours
  // is left then.
  bool begin(HANDLE thread, DWORD before) noexcept;
  void end() noexcept;
  // To be called around DoStackSnapshot, which suspends the thread once more. That suspension counts as ours, and is
  // undone if DoStackSnapshot does not return by itself. begin_walk() returns false if the thread runs again and must
  // not be walked. end_walk() returns false if the thread was resumed during the walk, so the walk must be discarded.
  bool begin_walk() noexcept;
  bool end_walk() noexcept;
  // To be called at each frame of DoStackSnapshot. Returns false if the walk must end itself; DoStackSnapshot then
  // resumes the thread.
  bool walk_may_go_on() noexcept;
  // Whether the deadline has passed, so that a walk in progress must end itself. This becomes true before the thread
  // runs again. So if code reads the stack and gets false here afterwards, the thread was frozen while its stack was
  // read.
  bool overdue() const noexcept {
    const Phase phase = phase_of(state_.load(std::memory_order_acquire));
    return phase == Phase::resuming || phase == Phase::leaving || phase == Phase::overdue ||
           freeze_.taken_from_outside();
  }
  LedgerPage& ledger() const noexcept { return ledger_; }

  // The last moment at which an overdue thread was still frozen, by QueryPerformanceCounter.
  std::uint64_t last_frozen_ticks() const noexcept { return last_frozen_ticks_.load(); }

  // Looks once, on the supervising thread: resumes the thread or the group that has been frozen for too long at now_ns
  // (TickClock).
  void look(std::uint64_t now_ns) noexcept;

 private:
  // idle → frozen (begin) → idle (end), with frozen → walking → frozen in between. At frozen or walking the supervisor
  // intervenes:
  //   checking → the phase before, or checking → resuming → overdue → idle (end),
  // and from walking first to leaving: DoStackSnapshot is to end itself, and resume the thread.
  // checking and resuming belong to the supervisor; all other threads wait until they are over.
  enum class Phase : std::uint64_t { idle, frozen, walking, checking, resuming, leaving, overdue };
  // How often the supervisor looks, unless the deadline comes earlier. A freeze in which DoStackSnapshot waits ends
  // some looks after its deadline (kSteadyLooks).
  static constexpr std::uint64_t kPollNs = 10'000'000;
  // How much longer than the deadline a thread may stay frozen if DoStackSnapshot has been called and has not suspended
  // the thread yet, by the time that the supervisor has watched this freeze. Until then DoStackSnapshot waits for
  // nothing that the thread owns (except for the runtime's stress log, which is off unless DOTNET_StressLog asks for
  // it). So this limit is only reached on a machine that is so busy that the sampler gets no time.
  //
  // It is also the limit for kSteadyLooks if somebody else suspends the thread again and again.
  static constexpr std::uint64_t kEntryNs = 1'000'000'000;
  // A state is a phase and, in the bits above it, the number of the freeze. So the supervisor never confuses the next
  // freeze with the one whose time it has read.
  using State = std::uint64_t;
  static constexpr State kPhaseBits = 0x7;
  static Phase phase_of(State state) noexcept { return static_cast<Phase>(state & kPhaseBits); }
  static State with(State state, Phase phase) noexcept {
    return (state & ~kPhaseBits) | static_cast<State>(phase);
  }

  static DWORD WINAPI run(void* self) noexcept;
  void watch() noexcept;
  bool move(State& state, Phase next) noexcept;
  bool change(Phase from, Phase to) noexcept;
  State wait_for_supervisor() const noexcept;
  void give_back_for_supervisor(State state) noexcept;
  void check_walk(State state) noexcept;
  std::uint64_t left_ns(std::uint64_t now_ns) const noexcept;
  std::uint64_t until_next_look(std::uint64_t now_ns) const noexcept;
  bool is_steady(State state, bool holds) noexcept;
  bool is_entry_over() const noexcept { return watched_.watched() - watched_since_ >= deadline_ns_ + kEntryNs; }
  void record_last_frozen() noexcept;

  LedgerPage& ledger_;
  WindowsFreeze freeze_;
  const std::uint64_t deadline_ns_;
  const ResumeFunction resume_;
  std::atomic<State> state_{0};
  std::atomic<HANDLE> target_{nullptr};
  std::atomic<std::uint64_t> since_ns_{0};  // when begin() was called
  std::atomic<std::uint64_t> last_frozen_ticks_{0};
  Heartbeat heartbeat_;
  GroupFreeze group_;
  TickClock clock_;
  PreciseWait wait_;  // of the supervising thread
  // Used by the supervising thread only; see is_steady() and is_entry_over().
  State steady_state_ = 0;
  int steady_looks_ = 0;
  WatchedTime watched_{2 * kPollNs, kEntryNs};
  State watched_freeze_ = 0;         // the freeze that was seen last, without its phase
  std::uint64_t watched_since_ = 0;  // watched_ when the supervisor first saw that freeze
  UniqueHandle stop_, running_;
  UniqueHandle thread_;
  DWORD thread_id_ = 0;
};

}  // namespace mixwalk
