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

// All threads of another process, which stand from the constructor to end(), or as long as this lives. Nothing is
// done in that process. Threads that it begins meanwhile stand too; those that may not be opened run on. What stands
// when mixwalk.exe itself is ended by TerminateProcess is resumed by its watcher, if there is one
// (suspension_watcher.h).
class ProcessSuspension {
 public:
  explicit ProcessSuspension(std::uint32_t process_id);
  ProcessSuspension(const ProcessSuspension&) = delete;
  ProcessSuspension& operator=(const ProcessSuspension&) = delete;
  ~ProcessSuspension() { end(); }

  // Resumes each thread once. Any thread may call it, also two at once: the first one does the work.
  void end() noexcept;

  struct Suspended {
    std::uint32_t id = 0;
    UniqueHandle handle;  // THREAD_SUSPEND_RESUME | THREAD_QUERY_INFORMATION
    SuspensionEntry entry;
  };
  // By id.
  const std::vector<Suspended>& threads() const noexcept { return threads_; }
  // From before the first suspension to after the last resumption; 0: they stand.
  std::uint64_t stood_ns() const noexcept { return stood_ns_; }

 private:
  bool suspend_new_threads(std::uint32_t process_id);

  TickClock clock_;
  std::uint64_t begun_ns_;
  std::vector<Suspended> threads_;
  std::atomic<bool> ended_{false};
  std::atomic<std::uint64_t> stood_ns_{0};
};

}  // namespace mixwalk
