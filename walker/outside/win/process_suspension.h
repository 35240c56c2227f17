#pragma once

#include <windows.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/win/tick_clock.h"
#include "walker/outside/win/suspension_ledger.h"

namespace mixwalk {

// Suspends all threads of another process from the constructor to end(), or while this object lives. Nothing else is
// done to that process. Threads that it starts meanwhile are suspended too; threads that may not be opened continue to
// run. If TerminateProcess ends mixwalk.exe meanwhile, its watcher resumes the threads, if there is a watcher
// (suspension_watcher.h).
class ProcessSuspension {
 public:
  explicit ProcessSuspension(std::uint32_t process_id);
  ProcessSuspension(const ProcessSuspension&) = delete;
  ProcessSuspension& operator=(const ProcessSuspension&) = delete;
  ~ProcessSuspension() { end(); }

  // Resumes each thread once. Any thread may call this, also two at the same time; only the first call resumes the
  // threads.
  void end() noexcept;

  struct Suspended {
    std::uint32_t id = 0;
    UniqueHandle handle;  // THREAD_SUSPEND_RESUME | THREAD_QUERY_INFORMATION
    SuspensionEntry entry;
  };
  // The threads, sorted by id.
  const std::vector<Suspended>& threads() const noexcept { return threads_; }
  // The time from before the first suspension to after the last resumption; 0 if the threads are still suspended.
  std::uint64_t frozen_ns() const noexcept { return frozen_ns_; }

 private:
  bool suspend_new_threads(std::uint32_t process_id);

  TickClock clock_;
  std::uint64_t begun_ns_;
  std::vector<Suspended> threads_;
  std::atomic<bool> ended_{false};
  std::atomic<std::uint64_t> frozen_ns_{0};
};

}  // namespace mixwalk
