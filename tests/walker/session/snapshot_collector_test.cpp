#include "walker/session/snapshot_collector.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

using Step = SnapshotCollector::Step;

Thread thread_in(std::uint32_t os_id, std::int32_t module, std::uint64_t function) {
  Thread thread{.os_id = os_id};
  thread.stack.frames.push_back(Frame{.function = function, .module = module});
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
  ASSERT_EQ(snapshot.modules.size(), 2u);
  EXPECT_EQ(snapshot.modules[0].path, "a.dll");
  ASSERT_EQ(snapshot.threads.size(), 2u);
  EXPECT_EQ(snapshot.threads[0].os_id, 3u);
  const auto module_of = [&](std::size_t thread) {
    return snapshot.modules
        .at(static_cast<std::size_t>(snapshot.threads[thread].stack.frames[0].module))
        .path;
  };
  EXPECT_EQ(module_of(0), "a.dll");
  EXPECT_EQ(module_of(1), "b.dll");
  EXPECT_EQ(snapshot.threads[1].stack.frames[0].name, "A.B()");
  EXPECT_EQ(snapshot.threads[0].stack.frames[0].name, "") << "a function nobody named";
}

TEST(SnapshotCollector, AThreadOfAMomentThatNeverWas) {
  for (const std::uint32_t moment : {0u, 2u, 3u}) {
    SnapshotCollector collector;
    EXPECT_EQ(collector.accept(Thread{.os_id = 1, .moment = moment}), Step::more);
    EXPECT_EQ(collector.accept(DumpDone{{}, {{5}, {6}}}),
              moment < 3 ? Step::done : Step::protocol_error);
  }
}

TEST(SnapshotCollector, AFrameInAModuleThatNeverCame) {
  SnapshotCollector collector;
  EXPECT_EQ(collector.accept(thread_in(1, 0, 0)), Step::protocol_error);
}

TEST(SnapshotCollector, AFrameInAModuleOneBeyondTheLast) {
  SnapshotCollector collector;
  EXPECT_EQ(collector.accept(Module{.base = 0x1000}), Step::more);
  EXPECT_EQ(collector.accept(thread_in(1, 0, 0)), Step::more);
  EXPECT_EQ(collector.accept(thread_in(2, 1, 0)), Step::protocol_error);
  EXPECT_EQ(collector.accept(Module{.base = 0x2000}), Step::more);
  EXPECT_EQ(collector.accept(thread_in(2, 1, 0)), Step::more) << "it has come by now";
}

TEST(SnapshotCollector, AFrameOfAnAssemblyThatNeverCame) {
  Thread thread{.os_id = 1};
  thread.stack.frames.push_back(Frame{.kind = FrameKind::managed, .il = {.assembly = 0}});
  SnapshotCollector collector;
  EXPECT_EQ(collector.accept(thread), Step::protocol_error);
  EXPECT_EQ(collector.accept(Assembly{.path = "a.dll"}), Step::more);
  EXPECT_EQ(collector.accept(thread), Step::more);
  thread.stack.frames[0].il.assembly = -2;
  EXPECT_EQ(collector.accept(thread), Step::protocol_error);
  const Snapshot snapshot = collector.finish();
  ASSERT_EQ(snapshot.assemblies.size(), 1u);
  EXPECT_EQ(snapshot.assemblies[0].path, "a.dll");
}

TEST(SnapshotCollector, AFrameInANegativeModule) {
  SnapshotCollector collector;
  EXPECT_EQ(collector.accept(Module{.base = 0x1000}), Step::more);
  EXPECT_EQ(collector.accept(thread_in(1, -2, 0)), Step::protocol_error);
  EXPECT_EQ(collector.accept(thread_in(1, Frame::kNone, 0)), Step::more);
  EXPECT_EQ(collector.finish().threads.at(0).stack.frames.at(0).module, Frame::kNone);
}

TEST(SnapshotCollector, AFunctionNamedTwiceHasItsLastNameFromThenOn) {
  SnapshotCollector collector;
  collector.accept(FunctionName{5, "Old()"});
  collector.accept(thread_in(1, Frame::kNone, 5));
  collector.accept(FunctionName{5, "New()"});
  collector.accept(thread_in(2, Frame::kNone, 5));
  collector.accept(thread_in(3, Frame::kNone, 0));
  const Snapshot snapshot = collector.finish();
  EXPECT_EQ(snapshot.threads.at(0).stack.frames.at(0).name, "Old()");
  EXPECT_EQ(snapshot.threads.at(1).stack.frames.at(0).name, "New()");
  EXPECT_EQ(snapshot.threads.at(2).stack.frames.at(0).name, "");
}

TEST(SnapshotCollector, ANameOfNoFunctionNamesNoFrame) {
  SnapshotCollector collector;
  collector.accept(FunctionName{0, "Nothing()"});
  collector.accept(thread_in(1, Frame::kNone, 0));
  EXPECT_EQ(collector.finish().threads.at(0).stack.frames.at(0).name, "");
}

TEST(SnapshotCollector, ModulesOfOneBaseAndThreadsOfOneIdKeepTheirOrder) {
  SnapshotCollector collector;
  for (const char* path : {"first.dll", "second.dll"}) {
    collector.accept(Module{.base = 0x1000, .path = path});
  }
  collector.accept(thread_in(1, 1, 0));
  collector.accept(thread_in(1, 0, 0));
  const Snapshot snapshot = collector.finish();
  EXPECT_EQ(snapshot.modules.at(0).path, "first.dll");
  EXPECT_EQ(snapshot.threads.at(0).stack.frames.at(0).module, 1);
  EXPECT_EQ(snapshot.threads.at(1).stack.frames.at(0).module, 0);
}

TEST(SnapshotCollector, MoreModulesThanAnyProcessHas) {
  SnapshotCollector collector;
  Step step = Step::more;
  int modules = 0;
  while (modules <= 200'000 && (step = collector.accept(Module{})) == Step::more) ++modules;
  EXPECT_EQ(step, Step::protocol_error);
  EXPECT_EQ(modules, 100'000);
}

TEST(SnapshotCollector, MoreThreadsThanAnyProcessHas) {
  SnapshotCollector collector;
  Step step = Step::more;
  int threads = 0;
  while (threads <= 200'000 && (step = collector.accept(Thread{})) == Step::more) ++threads;
  EXPECT_EQ(step, Step::protocol_error);
  EXPECT_EQ(threads, 100'000);
}

TEST(SnapshotCollector, MoreFunctionsThanAnyDumpHas) {
  SnapshotCollector collector;
  Step step = Step::more;
  std::uint64_t functions = 0;
  while (functions <= 2'000'000 &&
         (step = collector.accept(FunctionName{functions + 1, ""})) == Step::more) {
    ++functions;
  }
  EXPECT_EQ(step, Step::protocol_error);
  EXPECT_EQ(functions, 1'000'000u);
}

TEST(SnapshotCollector, AMessageThatIsNoPartOfADump) {
  SnapshotCollector collector;
  EXPECT_EQ(collector.accept(Hello{}), Step::protocol_error);
  EXPECT_EQ(collector.accept(DumpRequest{}), Step::protocol_error);
  EXPECT_EQ(collector.accept(DetachRequest{}), Step::protocol_error);
  EXPECT_EQ(collector.accept(Detached{}), Step::protocol_error);
}

}  // namespace
}  // namespace mixwalk
