#include "walker/suspended/win/windows_freeze.h"

#include "unmanaged/win/thread_information.h"
#include "walker/suspended/watched_time.h"

namespace mixwalk {
namespace {

// mixwalk.exe needs microseconds for its ResumeThread, unless it is killed during the call, or gets no processor there.
constexpr std::uint64_t kTakingNs = 3'000'000'000;
// This thread yields between two looks. If it does not come back for longer, mixwalk.exe may have stood still as well.
constexpr std::uint64_t kLongestGapNs = 10'000'000;

}  // namespace

// If mixwalk.exe has given the suspension back, none of ours is left: mixwalk.exe takes a suspension that has not
// happened yet only if the program has stopped this thread for good (FreezeWatch). The thread's count says nothing
// here, because the program may have suspended the thread meanwhile. (Tests: SupervisorTest,
// GivenBackAfterItHadHappened and SuspendedByTheProgramAfterItWasGivenBack.)
bool WindowsFreeze::suspended(HANDLE thread, DWORD before, ResumeFunction resume) noexcept {
  before_ = before;
  if (LedgerFreeze::suspended()) return true;
  resume_if_left_to_us(thread, resume);
  end();
  return false;
}

void WindowsFreeze::wait_for_mixwalk_exe() const noexcept {
  WatchedTime waited(kLongestGapNs, kTakingNs);
  while (being_taken() && waited.look(clock_.now_ns()) < kTakingNs) SwitchToThread();
}

void WindowsFreeze::resume_if_left_to_us(HANDLE thread, ResumeFunction resume) noexcept {
  wait_for_mixwalk_exe();
  if (is_left_to_us()) resume_if_in_effect(thread, resume);
}

void WindowsFreeze::resume_for_another(HANDLE thread, ResumeFunction resume) noexcept {
  resume_if_in_effect(thread, resume);
  resumed(false);
}

// A suspension above the count that our SuspendThread found is ours. Where the system does not tell the count, our
// suspension is taken to be in effect.
void WindowsFreeze::resume_if_in_effect(HANDLE thread, ResumeFunction resume) const noexcept {
  if (suspend_count(thread).value_or(before_ + 1) > before_) resume(thread);
}

}  // namespace mixwalk
