#include "walker/clr/tasks/task_stacks.h"

#include <gtest/gtest.h>

#include "tests/walker/clr/tasks/task_objects.h"

namespace mixwalk {
namespace {

using test::TaskObjects;

constexpr std::uint64_t kStack = 0x1'0000'0000;
constexpr char kEventWait[] =
    "System.Threading.ManualResetEventSlim.Wait(System.Int32, System.Threading.CancellationToken)";
constexpr char kSpin[] =
    "System.Threading.Tasks.Task.SpinThenBlockingWait(System.Int32, System.Threading.CancellationToken)";

StackFrame managed(std::uint64_t offset, const std::string& name) {
  StackFrame frame;
  frame.kind = FrameKind::managed;
  frame.stack_pointer = kStack + offset;
  frame.name = name;
  return frame;
}

class TaskStacks : public testing::Test, protected TaskObjects {
 protected:
  TaskStacks() : words(0x100) {}

  void put(std::uint64_t offset, std::uint64_t word) { words[offset / 8] = word; }
  void waits() {
    thread.stack.frames = {managed(0, "System.Threading.Monitor.Wait(System.Object, System.Int32)"),
                           managed(0x100, kEventWait), managed(0x180, kSpin),
                           managed(0x200, "System.Threading.Tasks.Task<System.Int32>.GetResultCore(System.Boolean)"),
                           managed(0x280, "P.Main()"), managed(0x300, "P.Start()")};
  }
  TasksOfThreads find() {
    ManagedObjects objects(memory, clr);
    const TaskStack stack{&thread, std::vector<std::uint64_t>(16), words};
    return tasks_of_threads(objects, {&stack, 1});
  }

  const std::uint64_t event_ = type("System.Threading.Tasks.Task+SetOnInvokeMres", {},
                                    type("System.Threading.ManualResetEventSlim", {}, object_));
  const std::uint64_t counter_ = type("System.Threading.Tasks.Task+SetOnCountdownMres", {},
                                      type("System.Threading.ManualResetEventSlim", {}, object_));
  Thread thread{.os_id = 5};
  std::vector<std::uint64_t> words;
};

TEST_F(TaskStacks, WaitAndItsEnd) {
  waits();
  EXPECT_TRUE(waits_for_task(thread));
  EXPECT_EQ(task_stack_end(thread), kStack + 0x280 + 0x20);
  thread.stack.frames[2].name = thread.stack.frames[3].name = "System.Threading.CountdownEvent.Wait()";
  EXPECT_FALSE(waits_for_task(thread));
  EXPECT_FALSE(task_stack_end(thread));
  waits();
  thread.stack.frames[0].kind = FrameKind::gap;
  EXPECT_FALSE(waits_for_task(thread));
  EXPECT_FALSE(waits_for_task(Thread{}));
  EXPECT_FALSE(task_stack_end(Thread{}));
}

TEST_F(TaskStacks, TaskThatSetsTheEventOfTheStack) {
  waits();
  const std::uint64_t event = object(event_), waited_for = task(task_of_int_, 0, event);
  const std::uint64_t other = task(task_of_int_, 0, object(event_));
  put(0x1A0, event);
  put(0x1B0, waited_for);
  put(0x1C0, other);
  EXPECT_EQ(find().waited_for, (std::vector<TaskOfThread>{{5, waited_for}}));
  // A list of continuations. A word outside the frames of the wait does not count.
  TaskObjects::put(waited_for, "m_continuationObject", list({object(object_), event}));
  EXPECT_EQ(find().waited_for.size(), 1u);
  put(0x1B0, 0);
  put(0x2F0, waited_for);
  EXPECT_TRUE(find().waited_for.empty());
}

TEST_F(TaskStacks, OldCopyOfTheTask) {
  waits();
  const std::uint64_t event = object(event_), waited_for = task(task_, 0, event), copy = task(task_, 0, event);
  put(0x1A0, event);
  put(0x1B0, waited_for);
  put(0x1C0, copy);
  EXPECT_TRUE(find().waited_for.empty());  // it is not known which of the two
  clr.left_behind = {copy};
  EXPECT_EQ(find().waited_for, (std::vector<TaskOfThread>{{5, waited_for}}));
}

TEST_F(TaskStacks, AllOfSeveralTasks) {
  waits();
  const std::uint64_t counter = object(counter_), one = task(task_, 0, counter), other = task(task_, 0, counter);
  put(0x1A0, counter);
  put(0x1B0, list({other, one, task(task_)}));
  const TasksOfThreads found = find();
  EXPECT_TRUE(found.waited_for.empty());
  EXPECT_EQ(found.waited_for_all,
            (std::vector<TasksOfThreads::WaitedForAll>{{.os_id = 5, .counter = counter, .tasks = {one, other}}}));
}

TEST_F(TaskStacks, CodeOfAMethodAndOfADelegate) {
  thread.stack.frames = {managed(0, "P.Busy()"),
                         managed(0x80, "Orders.Client+<FetchAsync>d__3.MoveNext()"),
                         managed(0x100, "System.Threading.ExecutionContext.RunInternal()"),
                         managed(0x180, "A()"), managed(0x190, "B()"), managed(0x1A0, "C()"), managed(0x1B0, "D()"),
                         managed(0x200, "System.Threading.Tasks.Task.ExecuteWithThreadLocal(ref Task, Thread)"),
                         managed(0x280, "System.Threading.ThreadPoolWorkQueue.Dispatch()"), managed(0x300, "E()")};
  const std::uint64_t box = task(box_), begun = task(task_, kStarted | kBegun), queued = task(task_, kStarted);
  for (const std::uint64_t of : {begun, queued}) TaskObjects::put(of, "m_action", object(delegate_));
  put(0x110, box);
  put(0x210, begun);
  put(0x218, queued);
  EXPECT_EQ(find().running, (std::vector<TaskOfThread>{{5, box}, {5, begun}}));
  EXPECT_EQ(task_stack_end(thread), kStack + 0x300 + 0x20);
  // Two boxes of the same method: it is not known which one.
  const std::uint64_t other = task(box_);
  put(0x118, other);
  EXPECT_EQ(find().running, (std::vector<TaskOfThread>{{5, begun}}));
  // One that has ended calls what goes on behind it.
  TaskObjects::put(other, "m_stateFlags", kDone);
  EXPECT_EQ(find().running, (std::vector<TaskOfThread>{{5, box}, {5, begun}}));
}

TEST_F(TaskStacks, TaskOnTwoStacksRunsOnNone) {
  thread.stack.frames = {managed(0, "System.Threading.Tasks.Task.InnerInvoke()"), managed(0x80, "P.Do()")};
  const std::uint64_t begun = task(task_, kStarted | kBegun);
  TaskObjects::put(begun, "m_action", object(delegate_));
  put(0x10, begun);
  ManagedObjects objects(memory, clr);
  Thread other = thread;
  other.os_id = 6;
  const TaskStack stacks[] = {{&thread, {}, words}, {&other, {}, words}};
  EXPECT_TRUE(tasks_of_threads(objects, stacks).running.empty());
}

}  // namespace
}  // namespace mixwalk
