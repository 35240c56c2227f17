#pragma once

#include <windows.h>

#include <atomic>
#include <cstdint>

#include "unmanaged/win/unique_handle.h"
#include "walker/suspended/deadline.h"

namespace mixwalk {

// Ends a freeze that lasts too long. The thread of the supervisor never touches the CLR, the heap
// or the loader: whatever the sampler waits for, and whoever holds it, the target runs again after
// the deadline, and then so does the sampler.
//
// Folklore: a sampler that waits for a lock which the thread it froze holds (the dynamic function
// table's, under RtlGrowFunctionTable; the loader's, under LdrLoadDll) waits for ever. Both were
// seen within seconds. A resume by another thread is the only way out.
class Supervisor {
 public:
  explicit Supervisor(DWORD deadline_ms = kDefaultDeadlineMs) noexcept : deadline_ms_(deadline_ms) {}
  ~Supervisor() { stop(); }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Not frozen-safe: they start and join the supervising thread. False: no thread could be made.
  bool start() noexcept;
  void stop() noexcept;
  DWORD thread_id() const noexcept { return thread_id_; }

  // The three below are frozen-safe. begin() right after SuspendThread; end() undoes the
  // suspension, unless the supervisor has done it already.
  void begin(HANDLE thread) noexcept;
  void end() noexcept;
  // The deadline has passed: the walk under way must end itself, the target runs again.
  bool overdue() const noexcept {
    return state_.load(std::memory_order_acquire) == State::overdue;
  }

  // When the last overdue thread was let go: QueryPerformanceCounter.
  std::uint64_t let_go_ticks() const noexcept { return let_go_ticks_.load(); }

 private:
  // idle → frozen (begin) → overdue (supervisor) → idle (end), or straight back.
  enum class State : std::uint32_t { idle, frozen, resuming, overdue };

  static DWORD WINAPI run(void* self) noexcept;
  void watch() noexcept;
  static void resume_fully(HANDLE thread) noexcept;

  const DWORD deadline_ms_;
  std::atomic<State> state_{State::idle};
  std::atomic<HANDLE> target_{nullptr};
  std::atomic<ULONGLONG> since_{0};  // GetTickCount64 at begin()
  std::atomic<std::uint64_t> let_go_ticks_{0};
  UniqueHandle stop_;
  UniqueHandle thread_;
  DWORD thread_id_ = 0;
};

}  // namespace mixwalk
