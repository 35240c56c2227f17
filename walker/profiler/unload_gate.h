#pragma once

#include <windows.h>

#include <cstdint>

#include "walker/profiler/slim_lock.h"

namespace mixwalk {

// Holds up the unloading of managed code until the sample under way is named: a FunctionID is a
// pointer, and a collectible assembly whose method was just on a stack may go as soon as the thread
// runs again. Not frozen-safe.
class UnloadGate {
 public:
  // One sample: from before its thread is frozen until its functions have names.
  class Sample {
   public:
    explicit Sample(UnloadGate& gate) noexcept : gate_(gate) {
      SlimLock lock(gate_.lock_);
      gate_.open_ = false;
    }
    ~Sample() {
      {
        SlimLock lock(gate_.lock_);
        gate_.open_ = true;
        ++gate_.samples_;
      }
      WakeAllConditionVariable(&gate_.changed_);
    }
    Sample(const Sample&) = delete;
    Sample& operator=(const Sample&) = delete;

   private:
    UnloadGate& gate_;
  };

  // From ModuleUnloadStarted: until the sample under way has ended, another one has begun (no stack
  // can have that code any more), or a while has passed: the runtime does not say which of its locks
  // its caller holds, and naming may want one.
  void wait() noexcept {
    SlimLock lock(lock_);
    ++unloads_;
    const std::uint64_t sample = samples_;
    const ULONGLONG end = GetTickCount64() + kLongestMs;
    for (ULONGLONG now = GetTickCount64(); !open_ && samples_ == sample && now < end;
         now = GetTickCount64()) {
      SleepConditionVariableSRW(&changed_, &lock_, static_cast<DWORD>(end - now), 0);
    }
  }

  // How many modules have gone: whatever was kept by FunctionID before may be wrong since.
  std::uint64_t unloads() noexcept {
    SlimLock lock(lock_);
    return unloads_;
  }

 private:
  static constexpr DWORD kLongestMs = 100;

  SRWLOCK lock_ = SRWLOCK_INIT;
  CONDITION_VARIABLE changed_ = CONDITION_VARIABLE_INIT;
  bool open_ = true;
  std::uint64_t samples_ = 0;
  std::uint64_t unloads_ = 0;
};

}  // namespace mixwalk
