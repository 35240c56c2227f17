#include "unmanaged/detached_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace mixwalk {
namespace {

// Each thread begins while the one before it ends. By std::thread::detach(), under Wine, the work of some did not run.
TEST(DetachedThread, TheWorkOfEachRuns) {
  constexpr int kThreads = 3'000;
  const auto done = std::make_shared<std::atomic<int>>(0);
  for (int i = 0; i < kThreads; ++i) {
    ASSERT_TRUE(run_detached([done] { ++*done; })) << i;
    // Not every thread is waited for, so that some begin while several end.
    while (i % 4 == 0 && *done <= i) std::this_thread::yield();
  }
  while (*done < kThreads) std::this_thread::yield();
}

TEST(DetachedThread, TheWorkIsDestroyedWhenItHasRun) {
  const auto owned = std::make_shared<int>(7);
  ASSERT_TRUE(run_detached([owned] {}));
  while (owned.use_count() != 1) std::this_thread::yield();
}

}  // namespace
}  // namespace mixwalk
