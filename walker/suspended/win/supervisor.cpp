#include "walker/suspended/win/supervisor.h"

#include <algorithm>

#include "unmanaged/win/own_thread.h"
#include "unmanaged/win/thread_information.h"

namespace mixwalk {
namespace {

// At how many looks in a row a thread must be suspended by DoStackSnapshot before the supervisor believes that it is.
//
// Folklore: the CLR's GC suspends a thread as well, reads its registers, and resumes it. While a thread stays frozen,
// the GC repeats this. So one look can take the GC's suspension for DoStackSnapshot's. If that suspension is undone,
// the thread runs on while the GC believes that it stands still. Remedy: the GC holds its suspension for a fraction of
// a millisecond, and DoStackSnapshot holds its own as long as it waits. (Tests: SupervisorTest.*MomentarySuspension*.)
constexpr int kSteadyLooks = 3;
constexpr SIZE_T kStackBytes = 64 << 10;
// How long a silent supervisor has at least before a reason is given. In that time it looks some fifty times.
constexpr std::uint64_t kMomentNs = 500'000'000;
// The shortest pause between two looks.
constexpr std::uint64_t kLeastPauseNs = 100'000;

}  // namespace

bool Supervisor::start(DWORD start_ms) noexcept {
  stop_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  running_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!stop_ || !running_) return false;
  thread_ = start_own_thread(&run, this, &thread_id_, kStackBytes);
  heartbeat_.set_thread(thread_.get());
  // Folklore: CreateThread succeeds while another thread holds the loader lock, but the new thread does not run until
  // the lock is free. Nothing may be frozen before that. (Test: LoaderLock.HeldForGoodEndsTheVisitWithAWord in
  // ends_test.)
  return thread_ && WaitForSingleObject(running_.get(), start_ms) == WAIT_OBJECT_0;
}

void Supervisor::stop() noexcept {
  if (!thread_) return;
  SetEvent(stop_.get());
  WaitForSingleObject(thread_.get(), INFINITE);
  heartbeat_.set_thread(nullptr);
  thread_.reset();
  stop_.reset();
}

Supervisor::Silence Supervisor::wait_while_silent(DWORD limit_ms) const noexcept {
  // Time also passes while the machine sleeps and while this thread gets no processor. Afterwards the supervisor needs
  // a moment to look. A debugger may also suspend the supervisor for a moment.
  WatchedTime waited(2 * kPollNs, std::uint64_t{limit_ms} * 1'000'000);
  PreciseWait pause;
  while (is_silent()) {
    const std::uint64_t waited_ns = waited.look(clock_.now_ns());
    if (waited_ns > kMomentNs) {
      if (suspend_count(thread_.get()).value_or(0) != 0) return Silence::stopped;
      if (waited_ns >= std::uint64_t{limit_ms} * 1'000'000) return Silence::late;
    }
    if (pause.wait(thread_.get(), kPollNs) == WAIT_OBJECT_0) return Silence::stopped;
  }
  return Silence::none;
}

bool Supervisor::before_suspend(DWORD thread_id) noexcept {
  return !is_silent() && freeze_.begin(ledger_, thread_id);
}

bool Supervisor::begin(HANDLE thread, DWORD before) noexcept {
  if (!freeze_.suspended(thread, before, resume_)) return false;
  target_.store(thread, std::memory_order_relaxed);
  since_ns_.store(clock_.now_ns(), std::memory_order_relaxed);
  const State next = (state_.load(std::memory_order_relaxed) | kPhaseBits) + 1;
  state_.store(with(next, Phase::frozen), std::memory_order_release);
  return true;
}

void Supervisor::end() noexcept {
  const HANDLE thread = target_.load(std::memory_order_relaxed);
  const bool in_time = change(Phase::frozen, Phase::idle);
  if (in_time && freeze_.take()) resume_(thread);
  freeze_.resume_if_left_to_us(thread, resume_);
  if (in_time && freeze_.taken_from_outside()) record_last_frozen();
  freeze_.end();
  State state = state_.load(std::memory_order_relaxed);
  move(state, Phase::idle);
}

bool Supervisor::begin_walk() noexcept {
  if (!change(Phase::frozen, Phase::walking)) return false;
  freeze_.walk_begins();
  if (!freeze_.taken_from_outside()) return true;
  change(Phase::walking, Phase::frozen);
  return false;
}

bool Supervisor::end_walk() noexcept {
  const bool was_frozen = change(Phase::walking, Phase::frozen);
  // DoStackSnapshot itself has just resumed the thread.
  if (!was_frozen && change(Phase::leaving, Phase::overdue)) record_last_frozen();
  freeze_.walk_ended();
  return was_frozen && !freeze_.taken_from_outside();
}

bool Supervisor::walk_may_go_on() noexcept {
  if (!overdue()) return true;
  wait_for_supervisor();
  freeze_.wait_for_mixwalk_exe();
  // DoStackSnapshot is about to resume the thread. If the suspension that DoStackSnapshot made has already been undone,
  // the thread is suspended once more, because the ResumeThread of DoStackSnapshot could otherwise undo a suspension
  // that the program has made since.
  if (freeze_.walk_takes_again()) {
    if (SuspendThread(target_.load(std::memory_order_relaxed)) == static_cast<DWORD>(-1)) {
      freeze_.walk_ended();
    }
    // If the phase is still walking, mixwalk.exe undid the suspension.
    if (!change(Phase::overdue, Phase::leaving)) change(Phase::walking, Phase::leaving);
  }
  return false;
}

// While the supervisor checks or resumes the thread, it uses our handle. This function waits for that to end. The
// supervisor's call to the system takes a microsecond or two. If the returned phase is still `checking`, the supervisor
// is silent, and finds the phase changed when it continues. If it is still `resuming`, the program has stopped the
// supervisor: as long as the supervisor is only late, nobody can tell whether its ResumeThread has happened.
Supervisor::State Supervisor::wait_for_supervisor() const noexcept {
  State state = 0;
  heartbeat_.wait_until([&] {
    state = state_.load(std::memory_order_acquire);
    const Phase phase = phase_of(state);
    return phase == Phase::checking ? heartbeat_.is_silent() : phase != Phase::resuming;
  });
  return state;
}

// Returns false if the state is in another phase.
bool Supervisor::change(Phase from, Phase to) noexcept {
  while (true) {
    State state = wait_for_supervisor();
    const Phase phase = phase_of(state);
    if (phase == Phase::checking || phase == Phase::resuming) {
      give_back_for_supervisor(state);
    } else if (phase != from) {
      return false;
    } else if (move(state, to)) {
      return true;
    }
  }
}

// The supervisor is silent before its ResumeThread, or the program has stopped it around that call. This undoes our
// suspension, if it is still in effect. Nothing is frozen until the supervisor looks again, because before_suspend()
// returns false. DoStackSnapshot is not running here.
void Supervisor::give_back_for_supervisor(State state) noexcept {
  if (!move(state, Phase::overdue)) return;
  record_last_frozen();
  const HANDLE thread = target_.load(std::memory_order_relaxed);
  if (freeze_.take()) {
    resume_(thread);
    freeze_.resumed(false);
  } else if (freeze_.being_resumed()) {
    freeze_.resume_for_another(thread, resume_);
  }
}

// Returns false if another thread has changed the state since it was read into `state`. So a supervisor that was
// stopped for a long time changes nothing in a freeze that has continued meanwhile.
bool Supervisor::move(State& state, Phase next) noexcept {
  const State to = with(state, next);
  if (!state_.compare_exchange_strong(state, to)) return false;
  state = to;
  return true;
}

DWORD WINAPI Supervisor::run(void* self) noexcept {
  static_cast<Supervisor*>(self)->watch();
  return 0;
}

void Supervisor::watch() noexcept {
  // The thread runs only for microseconds, and a busy machine must not delay it.
  SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL);
  std::uint64_t now = clock_.now_ns();
  heartbeat_.beat(now);
  SetEvent(running_.get());
  while (wait_.wait(stop_.get(), until_next_look(now)) == WAIT_TIMEOUT) {
    now = clock_.now_ns();
    look(now);
  }
}

// A freeze whose deadline has passed is looked at again after the usual time.
std::uint64_t Supervisor::until_next_look(std::uint64_t now_ns) const noexcept {
  const Phase phase = phase_of(state_.load(std::memory_order_acquire));
  const bool frozen = phase == Phase::frozen || phase == Phase::walking;
  const std::uint64_t left = std::min(group_.left_ns(now_ns), frozen ? left_ns(now_ns) : kPollNs);
  return left == 0 ? kPollNs : std::clamp(left, kLeastPauseNs, kPollNs);
}

// Undoes only our suspensions. The program, a debugger or the CLR's own GC may suspend the thread as well, and must
// resume it themselves.
void Supervisor::look(std::uint64_t now_ns) noexcept {
  heartbeat_.beat(now_ns);
  group_.look(now_ns);
  const std::uint64_t watched = watched_.look(now_ns);
  State state = state_.load(std::memory_order_acquire);
  if (const State freeze = with(state, Phase::idle); freeze != watched_freeze_) {
    watched_freeze_ = freeze;
    watched_since_ = watched;
  }
  const Phase phase = phase_of(state);
  if (phase == Phase::leaving) check_walk(state);
  if (phase != Phase::frozen && phase != Phase::walking) return;
  const bool walking = phase == Phase::walking;
  if (!walking && left_ns(now_ns) != 0) return;
  if (!move(state, Phase::checking)) return;

  const HANDLE thread = target_.load(std::memory_order_relaxed);
  if (walking) {
    // If the thread were resumed before DoStackSnapshot suspends it, it could end, and the runtime could forget it,
    // before DoStackSnapshot first uses it. That would end the process ("Fatal error. 0x8013135E").
    const bool steady = is_steady(state, suspend_count(thread).value_or(2) >= 2);
    if ((!steady && !is_entry_over()) || left_ns(now_ns) != 0) {
      move(state, Phase::walking);
      return;
    }
  }
  record_last_frozen();
  if (!move(state, Phase::resuming)) return;
  if (freeze_.take()) {
    resume_(thread);
    freeze_.resumed(walking);
  }
  move(state, walking ? Phase::leaving : Phase::overdue);
}

// DoStackSnapshot was told to end, at least one look ago. If it has not ended, it waits for something that the thread
// holds, or for a processor on a busy machine. Of our suspensions, only the one that DoStackSnapshot made is left. It
// is undone here, if that lets the thread run. walk_may_go_on() makes it again before DoStackSnapshot itself resumes
// the thread.
//
// In three cases a suspension by the program is wrongly undone as that of DoStackSnapshot. In the second and the third
// case, that suspension must last for kSteadyLooks looks in a row, or kEntryNs must have passed. First: the program
// suspends the thread after both suspensions were undone, and DoStackSnapshot returns without another frame. Second:
// the program suspends the thread after DoStackSnapshot has resumed it and before DoStackSnapshot has returned. Third:
// the program suspends the thread before DoStackSnapshot does, and the deadline passes. (The alternative is to wait for
// a frame, but that would keep a thread frozen for kEntryNs if its walk waits for a lock that the thread holds, because
// such a walk never reaches a frame.)
void Supervisor::check_walk(State state) noexcept {
  if (!move(state, Phase::resuming)) return;
  const HANDLE thread = target_.load(std::memory_order_relaxed);
  const bool alone = suspend_count(thread).value_or(1) == 1;
  const bool steady = is_steady(state, alone);
  if (!alone || (!steady && !is_entry_over())) {
    move(state, Phase::leaving);
    return;
  }
  steady_looks_ = 0;  // DoStackSnapshot may suspend the thread again in this freeze
  record_last_frozen();
  if (freeze_.take_walk()) {
    resume_(thread);
    freeze_.resumed(false);
  }
  move(state, Phase::overdue);
}

// How long the thread may stay frozen from now_ns on.
std::uint64_t Supervisor::left_ns(std::uint64_t now_ns) const noexcept {
  const std::uint64_t ends = since_ns_.load(std::memory_order_relaxed) + deadline_ns_;
  return ends > now_ns ? ends - now_ns : 0;
}

// Whether `holds` has been true at kSteadyLooks looks in a row, all of them in the same `state`: in the same freeze,
// and either before our own suspension was undone (checking) or afterwards (resuming).
bool Supervisor::is_steady(State state, bool holds) noexcept {
  if (state != steady_state_ || !holds) steady_looks_ = 0;
  steady_state_ = state;
  return holds && ++steady_looks_ >= kSteadyLooks;
}

void Supervisor::record_last_frozen() noexcept {
  LARGE_INTEGER ticks;
  QueryPerformanceCounter(&ticks);
  last_frozen_ticks_.store(static_cast<std::uint64_t>(ticks.QuadPart));
}

}  // namespace mixwalk
