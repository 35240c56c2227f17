#pragma once

#include <windows.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/win/tick_clock.h"
#include "walker/target/suspension/suspension_ledger.h"

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

  // Any thread may call these functions, also two at the same time.
  //
  // Resumes each thread once; only the first call does so. Returns whether this was the first call.
  bool end() noexcept;
  // To be called before and after a function of the system that suspends threads as well (MiniDumpWriteDump,
  // PssCaptureSnapshot). Returns false after end(), and then that function must not be called. Otherwise the ledger
  // keeps its entries until end_writing(), also after end(). Since a thread was suspended here, another program or the
  // runtime may have resumed what they had suspended before; the lower counts are recorded.
  bool begin_writing() noexcept;
  void end_writing() noexcept;

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
  std::mutex mutex_;  // for the two below, and for the entries in threads_
  bool ended_ = false, writing_ = false;
  std::atomic<std::uint64_t> frozen_ns_{0};
};

// Ends a suspension if this object still lives after some time.
class SuspensionLimit {
 public:
  SuspensionLimit(ProcessSuspension& suspension, DWORD milliseconds) noexcept;
  // If the time has just passed, waits until the threads are resumed.
  ~SuspensionLimit();
  SuspensionLimit(const SuspensionLimit&) = delete;
  SuspensionLimit& operator=(const SuspensionLimit&) = delete;

  // Whether the system watches the time.
  explicit operator bool() const noexcept { return timer_ != nullptr; }

 private:
  HANDLE timer_ = nullptr;
};

}  // namespace mixwalk
