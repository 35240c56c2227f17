#include "walker/suspended/win/supervisor.h"

namespace mixwalk {
namespace {

// How often the supervisor looks. A freeze ends at the latest one such step after its deadline.
constexpr DWORD kPollMs = 10;
constexpr SIZE_T kStackBytes = 64 << 10;

}  // namespace

bool Supervisor::start() noexcept {
  stop_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!stop_) return false;
  thread_ = UniqueHandle(CreateThread(nullptr, kStackBytes, &run, this,
                                      STACK_SIZE_PARAM_IS_A_RESERVATION, &thread_id_));
  return static_cast<bool>(thread_);
}

void Supervisor::stop() noexcept {
  if (!thread_) return;
  SetEvent(stop_.get());
  WaitForSingleObject(thread_.get(), INFINITE);
  thread_.reset();
  stop_.reset();
}

void Supervisor::begin(HANDLE thread) noexcept {
  target_.store(thread, std::memory_order_relaxed);
  since_.store(GetTickCount64(), std::memory_order_relaxed);
  state_.store(State::frozen, std::memory_order_release);
}

void Supervisor::end() noexcept {
  State frozen = State::frozen;
  if (state_.compare_exchange_strong(frozen, State::idle)) {
    ResumeThread(target_.load(std::memory_order_relaxed));
    return;
  }
  // The supervisor is resuming, or has: its handle is ours, so wait until it has let go of it.
  while (state_.load(std::memory_order_acquire) == State::resuming) SwitchToThread();
  state_.store(State::idle, std::memory_order_release);
}

DWORD WINAPI Supervisor::run(void* self) noexcept {
  static_cast<Supervisor*>(self)->watch();
  return 0;
}

void Supervisor::watch() noexcept {
  // It runs for microseconds, and a busy machine must not make it late.
  SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL);
  while (WaitForSingleObject(stop_.get(), kPollMs) == WAIT_TIMEOUT) {
    if (state_.load(std::memory_order_acquire) != State::frozen) continue;
    const ULONGLONG since = since_.load(std::memory_order_relaxed);
    const ULONGLONG now = GetTickCount64();
    if (now < since || now - since < deadline_ms_) continue;
    State frozen = State::frozen;
    if (!state_.compare_exchange_strong(frozen, State::resuming)) continue;
    resume_fully(target_.load(std::memory_order_relaxed));
    LARGE_INTEGER ticks;
    QueryPerformanceCounter(&ticks);
    let_go_ticks_.store(static_cast<std::uint64_t>(ticks.QuadPart));
    state_.store(State::overdue, std::memory_order_release);
  }
}

// However deep: DoStackSnapshot suspends its target a second time, and waits for what we must free.
// Its own later ResumeThread then finds a running thread, which is harmless. A suspension by the
// runtime for a GC at that very moment would be undone as well; that was not seen so far.
void Supervisor::resume_fully(HANDLE thread) noexcept {
  constexpr int kMaxSuspendCount = 127;  // MAXIMUM_SUSPEND_COUNT
  for (int i = 0; i < kMaxSuspendCount; ++i) {
    const DWORD before = ResumeThread(thread);
    if (before <= 1 || before == static_cast<DWORD>(-1)) return;
  }
}

}  // namespace mixwalk
