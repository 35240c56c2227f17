#pragma once

#include <windows.h>

#include "walker/base/win/tick_clock.h"
#include "walker/suspended/freeze_ledger.h"

namespace mixwalk {

// ResumeThread, or a function of a test that checks the state while the thread is still frozen.
using ResumeFunction = decltype(&ResumeThread);

// The system calls that belong to one suspension in the ledger. Frozen-safe.
class WindowsFreeze : public LedgerFreeze {
 public:
  // To be called after SuspendThread, which returned `before`. Returns false if mixwalk.exe has taken the suspension.
  // No suspension of ours is left then, and this freeze has ended.
  bool suspended(HANDLE thread, DWORD before, ResumeFunction resume) noexcept;
  // Waits until mixwalk.exe has finished its ResumeThread. The slot and the thread's handle are used again, and a later
  // ResumeThread would undo the next suspension.
  void wait_for_mixwalk_exe() const noexcept;
  void resume_if_left_to_us(HANDLE thread, ResumeFunction resume) noexcept;
  // Undoes our suspension in the place of a thread that was stopped around its own ResumeThread. To be called while
  // being_resumed().
  void resume_for_another(HANDLE thread, ResumeFunction resume) noexcept;

 private:
  void resume_if_in_effect(HANDLE thread, ResumeFunction resume) const noexcept;

  TickClock clock_;
  DWORD before_ = 0;  // the thread's suspend count before our suspension
};

}  // namespace mixwalk
