#pragma once

#include <windows.h>

#include <atomic>
#include <cstdint>

#include "symbols/win/profiling_api.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/base/win/precise_wait.h"
#include "walker/suspended/probe.h"
#include "walker/suspended/win/clr_managed_walk.h"
#include "walker/suspended/win/supervisor.h"
#include "walker/suspended/win/windows_thread.h"

namespace mixwalk {

// Tries the steps of a walk on a worker thread: a block of the process heap, a look-up in the function tables, and
// DoStackSnapshot of the canary, a parked managed thread that is suspended for this. Any of these steps may wait for
// the thread that is frozen at the moment. If so, the time limit passes, the probe fails, and the worker continues once
// the target runs again.
//
// The canary has a supervisor of its own. If the canary, against all expectation, holds the lock that the worker waits
// for, the supervisor resumes it after the deadline.
class CanaryProbe final : public Probe {
 public:
  // How long an answer may take. A free lock is acquired in microseconds, but on a busy machine the worker must first
  // get its time slice. The limit is well below the supervisor's deadline.
  static constexpr std::uint64_t kLimitNs = 20'000'000;

  CanaryProbe(clr::ICorProfilerInfo3& info, clr::ICorProfilerInfo4* info4,
              LedgerPage& ledger) noexcept
      : info_(info),
        info4_(info4),
        supervisor_(ledger),
        walk_(info, nullptr, supervisor_),
        canary_(supervisor_) {}
  ~CanaryProbe() { stop(); }
  CanaryProbe(const CanaryProbe&) = delete;
  CanaryProbe& operator=(const CanaryProbe&) = delete;

  // Not frozen-safe. start() starts the worker and returns false if no thread could be created, or the worker does not
  // run yet. stop() joins the worker, and waits for its end without a limit; nothing may be frozen or claimed
  // meanwhile.
  bool start() noexcept;
  void stop() noexcept;
  bool is_own_thread(DWORD id) const noexcept {
    return id == thread_id_ || id == supervisor_.thread_id();
  }

  // Not frozen-safe. Sets the canary for the next probes. The canary must stay claimed (ThreadRegistry) until
  // wait_until_idle() has returned after the last probe. Returns false if the canary's thread has ended.
  bool set_canary(std::uint64_t clr_thread, DWORD thread_id) noexcept;
  // Removes the canary: from then on every probe fails.
  void clear_canary() noexcept { clr_thread_ = 0; }
  // Not frozen-safe. Waits until the worker has finished a probe that took too long. Returns false if the worker does
  // not finish in time; it may then still walk the canary at any later moment. No probe passes after that, and no later
  // call waits for the worker.
  bool wait_until_idle() noexcept;

  LedgerPage& ledger() const noexcept { return supervisor_.ledger(); }

  // Frozen-safe. If nothing is frozen, this tries out the canary itself.
  bool passes() noexcept override;

 private:
  static DWORD WINAPI run(void* self) noexcept;
  void work() noexcept;
  bool try_all() noexcept;
  bool try_canary() noexcept;

  clr::ICorProfilerInfo3& info_;
  clr::ICorProfilerInfo4* info4_;
  Supervisor supervisor_;
  ClrManagedWalk walk_;
  WindowsThread canary_;
  std::uint64_t clr_thread_ = 0;  // 0 if there is no canary
  UniqueHandle stop_, ask_, answered_;
  PreciseWait wait_;  // of the asking thread
  UniqueHandle thread_;
  DWORD thread_id_ = 0;
  std::atomic<bool> busy_{true};  // true until the worker's own warm-up is done
  std::atomic<bool> lost_{false};  // the worker did not finish in time
  bool under_way_ = true;         // a probe without an answer, or the warm-up; only the asking thread uses it
  std::atomic<bool> passed_{false};
};

}  // namespace mixwalk
