#include "walker/locks/win/wait_chains.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <chrono>
#include <optional>

#include "tests/support/win/wine.h"

namespace mixwalk {
namespace {

constexpr std::chrono::milliseconds kTime{10'000};

// Wine has the functions but knows no chains. The result must be the same as on a system without these functions.
TEST(WaitChains, WhereTheSystemKnowsNoneThereAreNone) {
  MIXWALK_ONLY_UNDER_WINE("the system knows wait chains");
  EXPECT_EQ(WaitChains::open(kTime), nullptr);
}

TEST(WaitChains, NameTheOwnerOfAMutex) {
  if (under_wine()) GTEST_SKIP() << "Wine 8 knows no wait chains";
  const auto chains = WaitChains::open(kTime);
  ASSERT_NE(chains, nullptr);
  const HANDLE mutex = CreateMutexW(nullptr, TRUE, nullptr);
  DWORD id = 0;
  HANDLE waiter = CreateThread(
      nullptr, 0,
      [](void* mutex) -> DWORD {
        WaitForSingleObject(mutex, INFINITE);
        ReleaseMutex(mutex);
        return 0;
      },
      mutex, 0, &id);
  std::optional<Lock> lock;
  for (int i = 0; i < 100 && !lock; ++i) {
    Sleep(50);  // until the thread waits
    lock = lock_of_chain(chains->of(id), GetCurrentProcessId());
  }
  ReleaseMutex(mutex);
  WaitForSingleObject(waiter, INFINITE);
  CloseHandle(waiter);
  CloseHandle(mutex);
  ASSERT_TRUE(lock.has_value());
  EXPECT_EQ(lock->kind, LockKind::mutex);
  EXPECT_EQ(lock->owner, GetCurrentThreadId());
}

}  // namespace
}  // namespace mixwalk
