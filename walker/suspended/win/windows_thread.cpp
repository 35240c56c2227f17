#include "walker/suspended/win/windows_thread.h"

namespace mixwalk {

Suspend WindowsThread::suspend() noexcept {
  if (!supervisor_.before_suspend(thread_.id())) return Suspend::not_now;
  const DWORD before = SuspendThread(thread_.get());
  if (before == static_cast<DWORD>(-1)) {
    supervisor_.not_suspended();
    return Suspend::ending;
  }
  suspended_before_ = before;
  // begin() must not be called before SuspendThread. If the deadline passed between begin() and SuspendThread, the
  // supervisor would resume a running thread, and the thread would then stay suspended.
  return supervisor_.begin(thread_.get(), before) ? Suspend::done : Suspend::not_now;
}

void WindowsThread::resume() noexcept { supervisor_.end(); }

}  // namespace mixwalk
