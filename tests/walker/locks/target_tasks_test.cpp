#include "walker/locks/target_tasks.h"

#include <gtest/gtest.h>

#include "tests/walker/clr/tasks/task_objects.h"
#include "tests/walker/target/standing_target.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kStack = test::StandingTarget::kStack + 0x10 * 0x1'0000;

StackFrame frame(std::uint64_t offset, const std::string& name) {
  StackFrame frame;
  frame.kind = FrameKind::managed;
  frame.address = test::StandingTarget::kRip;
  frame.stack_pointer = kStack + offset;
  frame.name = name;
  return frame;
}

// A thread that waits for a method, which waits for a task that nobody completes.
class TargetTasks : public testing::Test, protected test::TaskObjects {
 protected:
  TargetTasks() {
    Thread thread{.os_id = 0x10};
    thread.stack.frames = {frame(0, "System.Threading.Monitor.Wait(System.Object, System.Int32)"),
                           frame(0x100, "System.Threading.ManualResetEventSlim.Wait(System.Int32)"),
                           frame(0x180, "System.Threading.Tasks.Task.InternalWaitCore(System.Int32)"),
                           frame(0x200, "P.Main()"), frame(0x280, "P.Start()")};
    snapshot.threads = {Thread{.os_id = 8}, thread};
    TaskObjects::put(box, "m_continuationObject", event);
    target.listed = {{.os_id = 8}, {.os_id = 0x10}};
    target.memory_of = memory;
    target.memory_of.put(kStack, std::uint64_t{0});
    target.memory_of.put(kStack + 0x190, event);
    target.memory_of.put(kStack + 0x1A0, box);
  }

  const std::uint64_t event = object(type("System.Threading.Tasks.Task+SetOnInvokeMres", {}, object_));
  const std::uint64_t source = task(task_of_int_), box = method(0, "<>u__1", source);
  test::StandingTarget target;
  Snapshot snapshot;
};

TEST_F(TargetTasks, OfADump) {
  add_tasks(snapshot, target, clr);
  ASSERT_EQ(snapshot.tasks.size(), 2u);
  EXPECT_EQ(snapshot.tasks[snapshot.threads[1].waits_for_task].address, box);
  EXPECT_EQ(snapshot.threads[0].waits_for_task, AsyncTask::kNone);
  EXPECT_EQ(snapshot.tasks_missing, "");
}

TEST_F(TargetTasks, OfAProcessThatStands) {
  target.live = true;
  add_tasks(snapshot, target, clr);
  EXPECT_EQ(snapshot.tasks.size(), 2u);
  EXPECT_NE(snapshot.threads[1].waits_for_task, AsyncTask::kNone);
}

TEST_F(TargetTasks, ThreadThatMovesBetweenTheReads) {
  target.live = true;
  int captures = 0;
  target.on_capture = [&] {
    if (++captures == 1) target.memory_of.put(kStack + 0x1F0, std::uint64_t{1});
  };
  add_tasks(snapshot, target, clr);
  EXPECT_EQ(snapshot.threads[1].waits_for_task, AsyncTask::kNone);
}

TEST_F(TargetTasks, TaskThatChangesBetweenTheReads) {
  target.live = true;
  int runs = 0;
  const std::uint64_t state = box + field(box_, "StateMachine").offset;
  clr.on_run = [&] {
    if (++runs == 3) target.memory_of.put(state, std::int32_t{7});
  };
  add_tasks(snapshot, target, clr);
  ASSERT_NE(snapshot.threads[1].waits_for_task, AsyncTask::kNone);
  EXPECT_TRUE(snapshot.tasks[snapshot.threads[1].waits_for_task].awaits.empty());
}

TEST_F(TargetTasks, NothingIsReadIfNoThreadWaits) {
  snapshot.threads[1].stack.frames.resize(2);
  bool captured = false;
  target.on_capture = [&] { captured = true; };
  add_tasks(snapshot, target, clr);
  EXPECT_FALSE(captured);
  EXPECT_TRUE(snapshot.tasks.empty());
  add_tasks(snapshot, target, clr, {.heap = true});
  EXPECT_EQ(snapshot.tasks.size(), 2u);
}

}  // namespace
}  // namespace mixwalk
