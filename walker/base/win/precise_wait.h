#pragma once

#include <windows.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "unmanaged/win/unique_handle.h"

namespace mixwalk {

// Waits for handles with a time limit that is exact to about a millisecond. Frozen-safe, except for the constructor and
// the destructor: a wait is two system calls. One thread uses an object at a time.
//
// The time limits of Sleep and of the plain waits end with a tick of the system's clock, which comes every 15.6 ms. So
// `Sleep(1)` takes up to 16 ms, and a wait for 20 ms takes up to 36 ms. Remedy: a high-resolution timer. Systems before
// Windows 10 1803 have no such timer, and there the limit is as coarse as that of the plain waits.
class PreciseWait {
 public:
  static constexpr std::size_t kMaxHandles = 3;

  PreciseWait() noexcept {
    constexpr DWORD kHighResolution = 0x2;  // CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
    timer_ = UniqueHandle(CreateWaitableTimerExW(nullptr, nullptr, kHighResolution, TIMER_ALL_ACCESS));
    if (!timer_) timer_ = UniqueHandle(CreateWaitableTimerW(nullptr, FALSE, nullptr));
  }

  // Waits until one of the handles is set (at least one, at most kMaxHandles). Returns what WaitForMultipleObjects
  // returns: WAIT_OBJECT_0 and the place of the handle, WAIT_TIMEOUT, or WAIT_FAILED.
  DWORD wait(std::span<const HANDLE> handles, std::uint64_t limit_ns) noexcept {
    const auto count = static_cast<DWORD>(handles.size());
    LARGE_INTEGER due;
    due.QuadPart = -static_cast<LONGLONG>(limit_ns / 100);  // relative, in 100 ns
    if (due.QuadPart == 0) return WaitForMultipleObjects(count, handles.data(), FALSE, 0);
    // Without a timer (no handle was available) the wait is longer, but it never becomes a loop without a pause.
    if (!SetWaitableTimer(timer_.get(), &due, 0, nullptr, nullptr, FALSE)) {
      return WaitForMultipleObjects(count, handles.data(), FALSE, static_cast<DWORD>(limit_ns / 1'000'000) + 1);
    }
    std::array<HANDLE, kMaxHandles + 1> all;
    *std::ranges::copy(handles, all.begin()).out = timer_.get();
    const DWORD waited = WaitForMultipleObjects(count + 1, all.data(), FALSE, INFINITE);
    return waited == WAIT_OBJECT_0 + count ? static_cast<DWORD>(WAIT_TIMEOUT) : waited;
  }
  DWORD wait(HANDLE handle, std::uint64_t limit_ns) noexcept { return wait({&handle, 1}, limit_ns); }

 private:
  UniqueHandle timer_;
};

}  // namespace mixwalk
