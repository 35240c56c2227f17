#pragma once

#include <windows.h>

#include <atomic>
#include <memory>
#include <thread>

#include "unmanaged/win/unique_handle.h"
#include "walker/session/failure.h"
#include "walker/session/freeze_watch.h"
#include "walker/session/win/processes.h"
#include "walker/session/win/shared_ledger.h"

namespace mixwalk {

// Stands by a target from outside, on a thread of its own, as long as it lives: when mixwalk.dll's
// thread there has ended or is silent, the threads that it left suspended are resumed.
//
// It has ended: the program is ending (ExitProcess ends every thread but one), or has ended threads
// that are not its own. Nobody would ever write to the pipe again, and nobody would close it.
class TargetWatch {
 public:
  // `agent_thread`: what the target says; it must be a thread of that process. `deadline_ms`: of
  // the supervisors inside.
  static Outcome<std::unique_ptr<TargetWatch>> begin(const Target& target,
                                                     std::uint32_t agent_thread);
  // Waits for the agent's end for a moment, and gives back what is still suspended then.
  ~TargetWatch();
  TargetWatch(const TargetWatch&) = delete;
  TargetWatch& operator=(const TargetWatch&) = delete;

  // The ledger, as the target has to call it.
  HANDLE ledger_of_target() const noexcept { return theirs_; }
  void set_deadline(std::uint32_t deadline_ms) noexcept { deadline_ms_ = deadline_ms; }
  // Set when the agent has ended, all is given back, and the process lives on all the same.
  HANDLE deserted() const noexcept { return deserted_.get(); }
  // How many suspensions were given back.
  int given_back() const noexcept { return given_back_; }

 private:
  explicit TargetWatch(SharedLedger ledger) noexcept
      : ledger_(std::move(ledger)), freezes_(ledger_.page(), 0) {}
  void run();

  SharedLedger ledger_;
  FreezeWatch freezes_;
  HANDLE theirs_ = nullptr;
  UniqueHandle process_, agent_, deserted_, stop_;
  std::uint32_t process_id_ = 0;
  std::atomic<std::uint32_t> deadline_ms_{0};
  std::atomic<int> given_back_{0};
  std::thread thread_;
};

}  // namespace mixwalk
