#pragma once

#include <windows.h>

#include <atomic>
#include <memory>
#include <thread>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/failure.h"
#include "walker/session/freeze_watch.h"
#include "walker/session/win/processes.h"
#include "walker/session/win/shared_ledger.h"

namespace mixwalk {

// Watches a target from outside, on a separate thread, as long as the target lives. When mixwalk.dll's thread in the
// target has ended or is silent, the threads that it left suspended are resumed.
//
// mixwalk.dll's thread ends early if the program ends (ExitProcess ends every thread except one), or if the program
// ends threads that are not its own. In these cases nothing more is written to the pipe, and the pipe is never closed.
class TargetWatch {
 public:
  // `agent_thread`: the id that the target reported; it must be a thread of that process. `patched`: system calls of
  // the target are patched (patched_calls.h), so the supervisors inside the target may be unable to end a freeze.
  static Outcome<std::unique_ptr<TargetWatch>> begin(const AttachTarget& target, std::uint32_t agent_thread,
                                                     bool patched);
  // Waits a limited time for the agent's end, and undoes what is still suspended then.
  ~TargetWatch();
  TargetWatch(const TargetWatch&) = delete;
  TargetWatch& operator=(const TargetWatch&) = delete;

  // The ledger's handle as it is valid in the target.
  HANDLE ledger_of_target() const noexcept { return target_handle_; }
  // The deadline of the supervisors inside the target.
  void set_deadline(std::uint32_t deadline_ms) noexcept { deadline_ms_ = deadline_ms; }
  // Set when the agent has ended, all suspensions are undone, and the process nevertheless lives on.
  HANDLE dll_thread_ended() const noexcept { return dll_thread_ended_.get(); }
  // The value of LedgerPage::events. The target can write anything there.
  std::uint64_t events() const noexcept { return ledger_.page().events; }
  std::uint64_t unjudged_events() const noexcept { return ledger_.page().unjudged_events; }
  // Whether system calls of the target are patched, as far as it is known.
  bool patched() const noexcept { return patched_; }
  // How many suspensions were undone by this process.
  int given_back() const noexcept { return given_back_; }

 private:
  explicit TargetWatch(SharedLedger ledger) noexcept
      : ledger_(std::move(ledger)), freezes_(ledger_.page(), 0) {}
  void run();
  void expect_patches() noexcept;

  // A supervisor inside the target resumes at its deadline. If a suspension lasts this much longer, all supervisors are
  // silent, since even a busy machine delays them far less.
  static constexpr std::uint32_t kMarginMs = 3'000;

  SharedLedger ledger_;
  FreezeWatch freezes_;
  HANDLE target_handle_ = nullptr;
  UniqueHandle process_, agent_, dll_thread_ended_, stop_;
  std::uint32_t process_id_ = 0, agent_thread_ = 0;
  std::uint32_t margin_ms_ = kMarginMs;
  std::atomic<std::uint32_t> deadline_ms_{0};
  std::atomic<int> given_back_{0};
  std::atomic<bool> patched_{false};
  std::thread thread_;
};

}  // namespace mixwalk
