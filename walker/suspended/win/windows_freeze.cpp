#include "walker/suspended/win/windows_freeze.h"

#include "unmanaged/win/thread_information.h"

namespace mixwalk {
namespace {

// mixwalk.exe needs microseconds for its ResumeThread, unless it is killed during the call.
constexpr ULONGLONG kTakingMs = 1'000;

}  // namespace

// Folklore: mixwalk.exe takes suspensions that have lasted too long, and cannot tell whether SuspendThread has already
// happened. Situation: a tool suspends the whole program for some seconds (NtSuspendProcess), with our thread just
// before its SuspendThread. mixwalk.exe undoes the tool's suspension of the target; our suspension, which came later,
// stayed for ever. Remedy: every suspension above the count that SuspendThread found is ours. (Test: SupervisorTest,
// GivenBackBeforeItHadHappened.)
bool WindowsFreeze::suspended(HANDLE thread, DWORD before, ResumeFunction resume) noexcept {
  if (LedgerFreeze::suspended()) return true;
  wait_for_mixwalk_exe();
  const ULONG otherwise = before + (is_left_to_us() ? 1 : 0);
  if (suspend_count(thread).value_or(otherwise) > before) resume(thread);
  end();
  return false;
}

void WindowsFreeze::wait_for_mixwalk_exe() const noexcept {
  const ULONGLONG begun = GetTickCount64();
  while (being_taken() && GetTickCount64() - begun < kTakingMs) SwitchToThread();
}

void WindowsFreeze::resume_if_left_to_us(HANDLE thread, ResumeFunction resume) noexcept {
  wait_for_mixwalk_exe();
  if (is_left_to_us()) resume(thread);
}

}  // namespace mixwalk
