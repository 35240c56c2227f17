#include "walker/profiler/thread_registry.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/win/coarse_clock.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/base/win/tick_clock.h"

namespace mixwalk {
namespace {

std::string name_in(const ThreadRegistry::Glance& glance) {
  return {glance.name.data(), glance.name_bytes};
}

TEST(ThreadRegistry, AGlanceAtAThread) {
  ThreadRegistry registry;
  ThreadRegistry::Glance glance;
  registry.glance(7, glance);
  EXPECT_EQ(glance.clr_id, 0u);
  EXPECT_EQ(name_in(glance), "");
  registry.assigned(0xC1, 7);
  registry.renamed(0xC1, "orders");
  registry.glance(7, glance);
  EXPECT_EQ(glance.clr_id, 0xC1u);
  EXPECT_EQ(name_in(glance), "orders");
  registry.destroyed(0xC1);
  ThreadRegistry::Glance after;
  registry.glance(7, after);
  EXPECT_EQ(after.clr_id, 0u);
}

TEST(ThreadRegistry, ANameThatIsTooLongForAGlanceIsLeftOut) {
  ThreadRegistry registry;
  registry.assigned(0xC1, 7);
  ThreadRegistry::Glance glance;
  registry.renamed(0xC1, std::string(glance.name.size() + 1, 'x'));
  registry.glance(7, glance);
  EXPECT_EQ(glance.clr_id, 0xC1u);
  EXPECT_EQ(name_in(glance), "");
  registry.renamed(0xC1, std::string(glance.name.size(), 'x'));
  registry.glance(7, glance);
  EXPECT_EQ(name_in(glance).size(), glance.name.size());
}

// A thread ends while it is claimed. It must not wait for the next tick of the system's clock when the claim ends. A
// quarter of the threads must go on in time, because a busy machine may delay any of them.
TEST(ThreadRegistry, AThreadGoesOnAtOnceWhenItsClaimEnds) {
  const CoarseClock coarse;
  static const TickClock clock;
  static ThreadRegistry registry;
  static std::atomic<std::uint64_t> went_on;
  constexpr int kThreads = 20;
  int in_time = 0;
  for (int i = 0; i < kThreads; ++i) {
    registry.assigned(0x1000, 7);
    ASSERT_TRUE(registry.claim(7));
    const UniqueHandle thread(CreateThread(
        nullptr, 0,
        [](void*) WINAPI -> DWORD {
          registry.destroyed(0x1000);
          went_on = clock.now_ns();
          return 0;
        },
        nullptr, 0, nullptr));
    EXPECT_EQ(WaitForSingleObject(thread.get(), 30), static_cast<DWORD>(WAIT_TIMEOUT)) << "the claim holds the thread";
    CoarseClock::wait_for_tick();
    const std::uint64_t released = clock.now_ns();
    registry.release(0x1000);
    WaitForSingleObject(thread.get(), INFINITE);
    in_time += went_on - released < 5'000'000;
  }
  EXPECT_GE(in_time, kThreads / 4);
}

}  // namespace
}  // namespace mixwalk
