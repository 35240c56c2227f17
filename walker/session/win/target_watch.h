#pragma once

#include <windows.h>

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/failure.h"
#include "walker/session/freeze_watch.h"
#include "walker/session/patched_calls.h"
#include "walker/session/win/processes.h"
#include "walker/session/win/shared_ledger.h"

namespace mixwalk {

// What another process of mixwalk needs to watch a target further. The handles are valid in that process.
struct HandedWatch {
  HANDLE ledger = nullptr, process = nullptr, agent = nullptr;
  std::uint32_t process_id = 0, agent_thread = 0;
  std::uint32_t deadline_ms = 0;
};

// Watches a target from outside, on a separate thread, as long as the target lives. When mixwalk.dll's thread in the
// target has ended or is silent, the threads that it left suspended are resumed.
//
// mixwalk.dll's thread ends early if the program ends (ExitProcess ends every thread except one), or if the program
// ends threads that are not its own. In these cases nothing more is written to the pipe, and the pipe is never closed.
class TargetWatch {
 public:
  // `agent_thread`: the id that the target reported; it must be a thread of that process.
  static Outcome<std::unique_ptr<TargetWatch>> begin(const AttachTarget& target, std::uint32_t agent_thread);
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
  // The system calls of the target that were patched when this watch began (patched_calls.h). Then the supervisors
  // inside the target may be unable to end a freeze.
  std::span<const PatchedCall> patched_calls() const noexcept { return patched_calls_; }
  // Whether system calls of the target are patched, also if this was found later.
  bool patched() const noexcept { return patched_; }

  // Prepares another process to continue this watch if this process is ended. `process` needs PROCESS_DUP_HANDLE.
  // Returns nothing if it cannot; GetLastError() says why.
  std::optional<HandedWatch> hand_to(HANDLE process);
  // Returns true at the first call: there is no reason to try hand_to() again and again.
  bool begin_handing() noexcept { return !std::exchange(handing_, true); }
  // To be called in that other process when this one has ended: watches until the agent's thread or the target has
  // ended, or for a limited time.
  static void take_over(const HandedWatch& handed);

  // How many times this process has ended a freeze of a thread, as FreezeWatch::look() counts them.
  int given_back() const noexcept { return given_back_; }

 private:
  explicit TargetWatch(SharedLedger ledger) noexcept
      : ledger_(std::move(ledger)), freezes_(ledger_.page(), 0) {}
  void run();
  void expect_patches() noexcept;

  // A supervisor inside the target resumes at its deadline. If a suspension lasts this much longer, all supervisors are
  // silent, since even a busy machine delays them far less.
  static constexpr std::uint32_t kMarginMs = 3'000;
  // How long the agent may take to end once its pipe is closed, beyond the time of a freeze. By watched_ms().
  static constexpr std::uint64_t kLeavingMs = 500;

  SharedLedger ledger_;
  FreezeWatch freezes_;
  HANDLE target_handle_ = nullptr;
  UniqueHandle process_, agent_, dll_thread_ended_, stop_;
  std::uint32_t process_id_ = 0, agent_thread_ = 0;
  std::uint32_t margin_ms_ = kMarginMs;
  std::uint64_t leaving_ms_ = kLeavingMs;
  std::vector<PatchedCall> patched_calls_;
  bool handing_ = false;
  std::atomic<std::uint32_t> deadline_ms_{0};
  std::atomic<int> given_back_{0};
  std::atomic<bool> patched_{false};
  std::thread thread_;
};

}  // namespace mixwalk
