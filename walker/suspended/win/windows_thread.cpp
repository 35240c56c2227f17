#include "walker/suspended/win/windows_thread.h"

namespace mixwalk {

bool WindowsThread::suspend() noexcept {
  if (!supervisor_.before_suspend(thread_.id())) return false;
  const DWORD before = SuspendThread(thread_.get());
  if (before == static_cast<DWORD>(-1)) {
    supervisor_.not_suspended();
    return false;
  }
  suspended_before_ = before;
  // begin() must not be called before SuspendThread. If the deadline passed between begin() and SuspendThread, the
  // supervisor would resume a running thread, and the thread would then stay suspended.
  return supervisor_.begin(thread_.get(), before);
}

void WindowsThread::resume() noexcept { supervisor_.end(); }

}  // namespace mixwalk
