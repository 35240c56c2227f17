// Tests which threads are probed, and how a dump shows the probe.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/ended_thread.h"
#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "walker/model/counters.h"

namespace mixwalk {
namespace {

class Canary : public ::testing::Test {
 protected:
  Canary() : hang_({fixture("hang.exe")}) {
    EXPECT_TRUE(hang_.read_line().value_or("").starts_with("READY"));
  }
  ~Canary() override {
    hang_.write_line("STOP");
    EXPECT_EQ(hang_.wait(20'000), 0u);
  }

  Snapshot dump(const DumpRequest& request) {
    TargetSession session = attach_to(hang_.id());
    Snapshot snapshot = dump_named(session, request);
    EXPECT_EQ(session.leave(), "");
    for (const Thread& thread : snapshot.threads) {
      EXPECT_TRUE(ended_meanwhile(thread) || thread.stack.whole()) << to_text(snapshot, thread);
    }
    return snapshot;
  }

  ChildProcess hang_;
};

TEST_F(Canary, AlwaysProbesEveryManagedThreadAndNoOther) {
  const Snapshot snapshot = dump({.probe = ProbePolicy::always});
  std::size_t passed = 0;
  for (const Thread& thread : snapshot.threads) {
    SCOPED_TRACE(to_text(snapshot, thread));
    if (ended_meanwhile(thread)) continue;
    EXPECT_EQ(thread.probe != ProbeResult::none, thread.clr_id != 0);
    passed += thread.probe == ProbeResult::passed;
  }
  const Counters counters = count(snapshot);
  EXPECT_GT(counters.probes_run, 5u);
  // A busy machine may not let the worker run within the limit, but most of the time it does.
  EXPECT_GE(passed * 2, counters.probes_run);
}

TEST_F(Canary, RiskProbesWhoWaitsInTheRuntimeAndNotWhoWaitsInALibrary) {
  const Snapshot snapshot = dump({});
  EXPECT_NE(thread_named(snapshot, "deadlock 1").probe, ProbeResult::none);
  EXPECT_EQ(thread_named(snapshot, "native wait").probe, ProbeResult::none);
  EXPECT_EQ(thread_named(snapshot, "com call").probe, ProbeResult::none);
}

TEST_F(Canary, NeverProbesNobody) {
  EXPECT_EQ(count(dump({.probe = ProbePolicy::never})).probes_run, 0u);
  EXPECT_EQ(count(dump({.engine = Engine::copy, .probe = ProbePolicy::always})).probes_run, 0u)
      << "the copy engine asks the runtime nothing";
}

TEST_F(Canary, TheNamedThreadIsWalkedWhileOthersStand) {
  const Snapshot snapshot =
      dump({.probe = ProbePolicy::always, .canary_prefix = "native w"});
  // A canary cannot probe itself, so another canary probes this thread.
  EXPECT_NE(thread_named(snapshot, "native wait").probe, ProbeResult::none);
  EXPECT_GT(count(snapshot).probes_run, count(snapshot).probes_failed);
}

TEST_F(Canary, TheThreadWithTheIdIsWalkedWhileOthersStand) {
  const std::uint32_t wanted = thread_named(dump({}), "native wait").os_id;
  const Snapshot snapshot = dump({.probe = ProbePolicy::always, .canary_id = wanted});
  EXPECT_NE(thread_named(snapshot, "native wait").probe, ProbeResult::none);
  EXPECT_GT(count(snapshot).probes_run, count(snapshot).probes_failed);
}

TEST_F(Canary, ANameOrAnIdThatNobodyHasIsNoHarm) {
  for (const DumpRequest& request : {DumpRequest{.probe = ProbePolicy::always, .canary_prefix = "no such thread"},
                                     DumpRequest{.probe = ProbePolicy::always, .canary_id = 0xFFFF'FFF0}}) {
    const Snapshot snapshot = dump(request);
    EXPECT_GT(count(snapshot).probes_run, count(snapshot).probes_failed);
  }
}

}  // namespace
}  // namespace mixwalk
