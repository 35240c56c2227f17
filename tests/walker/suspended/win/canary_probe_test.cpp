#include "walker/suspended/win/canary_probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "tests/support/win/coarse_clock.h"

namespace mixwalk {
namespace {

HRESULT STDMETHODCALLTYPE fail() { return E_NOTIMPL; }

// A runtime that fails every call.
class FailingRuntime {
 public:
  FailingRuntime() { std::ranges::fill(calls_, &fail); }
  clr::ICorProfilerInfo3& info() { return reinterpret_cast<clr::ICorProfilerInfo3&>(table_); }

 private:
  std::array<HRESULT(STDMETHODCALLTYPE*)(), 200> calls_{};  // more than the interface has
  const void* table_ = calls_.data();
};

// A thread is frozen while the answer is awaited. The limit is one of milliseconds, not of the system's ticks: with a
// plain wait it would be 31.25 ms.
TEST(CanaryProbeTest, AFailedProbeTakesTwentyMillisecondsWhereTheClockTicks) {
  FailingRuntime runtime;
  LedgerPage ledger{};
  CanaryProbe probe(runtime.info(), nullptr, ledger);
  ASSERT_TRUE(probe.start());
  ASSERT_TRUE(probe.set_canary(1, GetCurrentThreadId()));
  const CoarseClock coarse;
  CoarseClock::wait_for_tick();
  CoarseClock::record_waits(GetCurrentThreadId());
  HeapLock(GetProcessHeap());  // as the frozen thread may hold it; the worker then waits for it
  const bool passed = probe.passes();
  HeapUnlock(GetProcessHeap());
  EXPECT_FALSE(passed);
  EXPECT_EQ(std::chrono::nanoseconds(CoarseClock::longest_wait_ns()), std::chrono::milliseconds(20));
  CoarseClock::record_waits(0);
  probe.clear_canary();
  EXPECT_TRUE(probe.wait_until_idle());
}

}  // namespace
}  // namespace mixwalk
