#include "walker/session/snapshot_collector.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

using Step = SnapshotCollector::Step;

Thread thread_in(std::uint32_t os_id, std::int32_t module, std::uint64_t function) {
  Thread thread{.os_id = os_id};
  thread.stack.frames.push_back({.function = function, .module = module});
  return thread;
}

TEST(SnapshotCollector, SortsAndConnectsWhatCameInAnyOrder) {
  SnapshotCollector collector;
  collector.begin({.process = {.id = 7}}, Engine::copy);
  EXPECT_EQ(collector.accept(Module{.base = 0x2000, .path = "b.dll"}), Step::more);
  EXPECT_EQ(collector.accept(Module{.base = 0x1000, .path = "a.dll"}), Step::more);
  EXPECT_EQ(collector.accept(FunctionName{5, "A.B()"}), Step::more);
  EXPECT_EQ(collector.accept(thread_in(9, 0, 5)), Step::more);
  EXPECT_EQ(collector.accept(thread_in(3, 1, 6)), Step::more);
  EXPECT_EQ(collector.accept(DumpDone{}), Step::done);
  const Snapshot snapshot = collector.finish();
  EXPECT_EQ(snapshot.process.id, 7u);
  EXPECT_EQ(snapshot.engine, Engine::copy);
  ASSERT_EQ(snapshot.threads.size(), 2u);
  EXPECT_EQ(snapshot.threads[0].os_id, 3u);
  const auto module_of = [&](std::size_t thread) {
    return snapshot.modules.at(
        static_cast<std::size_t>(snapshot.threads[thread].stack.frames[0].module)).path;
  };
  EXPECT_EQ(module_of(0), "a.dll");
  EXPECT_EQ(module_of(1), "b.dll");
  EXPECT_EQ(snapshot.threads[1].stack.frames[0].name, "A.B()");
  EXPECT_EQ(snapshot.threads[0].stack.frames[0].name, "") << "a function nobody named";
}

TEST(SnapshotCollector, AFrameInAModuleThatNeverCame) {
  SnapshotCollector collector;
  EXPECT_EQ(collector.accept(thread_in(1, 0, 0)), Step::protocol_error);
}

TEST(SnapshotCollector, AMessageThatIsNoPartOfADump) {
  SnapshotCollector collector;
  EXPECT_EQ(collector.accept(Hello{}), Step::protocol_error);
  EXPECT_EQ(collector.accept(DumpRequest{}), Step::protocol_error);
}

}  // namespace
}  // namespace mixwalk
