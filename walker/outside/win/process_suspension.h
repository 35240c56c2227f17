#pragma once

#include <windows.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/win/tick_clock.h"
#include "walker/outside/win/suspension_ledger.h"

namespace mixwalk {

// Suspends all threads of another process from the constructor to resume() or end(), or while this object lives.
// Nothing else is done to that process. Threads that it starts meanwhile are suspended too; threads that may not be
// opened continue to run. If TerminateProcess ends mixwalk.exe meanwhile, its watcher resumes the threads, if there is
// a watcher (suspension_watcher.h).
class ProcessSuspension {
 public:
  explicit ProcessSuspension(std::uint32_t process_id);
  ProcessSuspension(const ProcessSuspension&) = delete;
  ProcessSuspension& operator=(const ProcessSuspension&) = delete;
  ~ProcessSuspension() { end(); }

  // Any thread may call these functions, also two at the same time.
  //
  // Resumes each thread once; only the first call does so. The ledger still lists the threads until end() is called,
  // because MiniDumpWriteDump may have suspended them as well.
  void resume() noexcept;
  // The same, and takes the threads off the ledger.
  void end() noexcept;
  // Records the suspend counts of now in the ledger. Since a thread was suspended here, another program or the runtime
  // may have resumed what they had suspended before. Does nothing after resume().
  void record_counts() noexcept;

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
  void resume_threads(bool end_entries) noexcept;

  TickClock clock_;
  std::uint64_t begun_ns_;
  std::vector<Suspended> threads_;
  std::mutex mutex_;  // for resumed_, and for the entries in threads_
  bool resumed_ = false;
  std::atomic<std::uint64_t> frozen_ns_{0};
};

}  // namespace mixwalk
