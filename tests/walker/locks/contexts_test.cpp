#include "walker/locks/contexts.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/walker/locks/il_code.h"
#include "tests/walker/locks/standing_program.h"

namespace mixwalk {
namespace {

constexpr char kWait[] = "System.Threading.Tasks.Task.InternalWait(System.Int32)";

// A context of the program's own. An ended task is in its queue.
class Contexts : public testing::Test, protected test::StandingProgram {
 protected:
  Contexts() { snapshot.tasks = {{.address = 1, .status = TaskStatus::done, .continues_on = 0}}; }
  std::uint64_t ui(std::uint32_t os_id, const std::string& loop) {
    return heap.set(add_thread(os_id, {kWait, "Hangs.Program.Click()", loop}), {"_synchronizationContext"}, context);
  }
  // The thread that serves the context.
  std::uint32_t server() {
    snapshot.contexts = {{.address = context}};
    add_context_threads(snapshot, target, clr);
    return snapshot.contexts[0].thread;
  }

  std::uint64_t base = heap.type("System.Threading.SynchronizationContext", {{"_requireWaitNotification"}});
  std::uint64_t desk = heap.type("Hangs.Desk", {{"posted"}}, base), context = heap.object(desk);
};

TEST_F(Contexts, OfTheProgramIsServedByTheThreadInItsLoop) {
  ui(0x10, "Hangs.Desk.Run()");
  EXPECT_EQ(server(), 0x10u);
}

// Its code may post to the thread pool.
TEST_F(Contexts, WithNothingInItsQueueIsUnclear) {
  ui(0x10, "Hangs.Desk.Run()");
  snapshot.tasks.clear();
  EXPECT_EQ(server(), 0u);
}

// TaskScheduler.FromCurrentSynchronizationContext()
TEST_F(Contexts, IsServedIfOnlyItsSchedulerHasATask) {
  const std::uint64_t scheduler = heap.object(
      heap.type("System.Threading.Tasks.SynchronizationContextTaskScheduler", {{"m_synchronizationContext"}}));
  heap.set(scheduler, {"m_synchronizationContext"}, context);
  ui(0x10, "Hangs.Desk.Run()");
  snapshot.tasks = {{.address = 1, .status = TaskStatus::queued, .object = scheduler}};
  snapshot.contexts = {{.address = scheduler}};
  add_context_threads(snapshot, target, clr);
  EXPECT_EQ(snapshot.contexts[0].thread, 0x10u);
}

TEST_F(Contexts, ThatGivesWorkToOtherThreadsIsUnclear) {
  ui(0x10, "Hangs.Desk.Run()");
  clr.il_of_methods[{desk, "Post"}] =
      test::Code().argument(0).call("System.Collections.Queue.Enqueue", 1).il;
  EXPECT_EQ(server(), 0x10u);
  clr.il_of_methods[{desk, "Post"}] =
      test::Code().call("Hangs.Desk.Enqueue", 1).call("Hangs.Desk.Post", 2).il;
  EXPECT_EQ(server(), 0x10u);
  clr.il_of_methods[{desk, "Enqueue"}] =
      test::Code().call("System.Threading.ThreadPool.QueueUserWorkItem", 1).il;
  EXPECT_EQ(server(), 0u);
  context = heap.object(heap.type("Hangs.LateDesk", {}, desk));
  EXPECT_EQ(server(), 0u);
}

TEST_F(Contexts, TheLoopMayBeThatOfABaseType) {
  context = heap.object(heap.type("Hangs.AskedDesk", {}, desk));
  ui(0x10, "Hangs.Desk.Run()");
  EXPECT_EQ(server(), 0x10u);
}

TEST_F(Contexts, OfTwoThreadsInLoopsIsUnclear) {
  ui(0x10, "Hangs.Desk.Run()");
  ui(0x20, "Hangs.Desk.Run()");
  EXPECT_EQ(server(), 0u);
  snapshot.threads[1].stack.frames[2].name = "Hangs.Desk.Post(System.Threading.SendOrPostCallback, System.Object)";
  EXPECT_EQ(server(), 0x10u);
}

TEST_F(Contexts, WithALoopOfAThreadWithoutContextIsUnclear) {
  ui(0x10, "Hangs.Desk.Run()");
  add_thread(0x20, {kWait, "Hangs.Desk.Run()"});
  EXPECT_EQ(server(), 0u);
}

TEST_F(Contexts, BeforeItsLoopIsServedByTheOnlyThreadThatKnowsIt) {
  ui(0x10, "Hangs.Program.Main()");
  EXPECT_EQ(server(), 0x10u);
  const std::vector<AsyncTask> queued = std::exchange(snapshot.tasks, {});
  EXPECT_EQ(server(), 0u);
  snapshot.tasks = queued;
  add_thread(0x20, {kWait}, {context});
  EXPECT_EQ(server(), 0u);
  snapshot.threads.pop_back();
  EXPECT_EQ(server(), 0x10u);
  ui(0x30, "Hangs.Program.Main()");
  EXPECT_EQ(server(), 0u);
}

// The loop belongs to an object that the context refers to.
TEST_F(Contexts, TheLoopMayBeThatOfAnObjectOfTheContext) {
  const std::uint64_t pump = heap.type("Hangs.Pump");
  ui(0x10, "Hangs.Pump.Execute()");
  ui(0x20, "Hangs.Program.Main()");
  EXPECT_EQ(server(), 0u);
  heap.set(context, {"posted"}, heap.object(pump));
  EXPECT_EQ(server(), 0x10u);
}

TEST_F(Contexts, OfTheBaseTypeIsThePool) {
  const std::uint64_t plain = heap.object(base);
  snapshot.contexts = {{.address = plain}};
  const std::uint64_t thread = add_thread(0x10, {kWait, "System.Threading.SynchronizationContext.Run()"});
  heap.set(thread, {"_synchronizationContext"}, plain);
  add_context_threads(snapshot, target, clr);
  EXPECT_EQ(snapshot.contexts[0].thread, 0u);
}

TEST_F(Contexts, OfWindowsFormsNamesItsThreadByAWeakReference) {
  const std::uint64_t thread = add_thread(0x10, {kWait});
  const std::uint64_t handle = heap.room(8);
  heap.put(handle, thread);
  const std::uint64_t weak = heap.object(heap.type("System.WeakReference", {{"_taggedHandle"}}));
  heap.set(weak, {"_taggedHandle"}, handle | 2);
  for (const char* const field : {"_destinationThread", "_destinationThreadRef", "destinationThreadRef"}) {
    const std::uint64_t forms =
        heap.object(heap.type("System.Windows.Forms.WindowsFormsSynchronizationContext", {{field}}, base));
    snapshot.contexts = {{heap.set(forms, {field}, weak)}};
    add_context_threads(snapshot, target, clr);
    EXPECT_EQ(snapshot.contexts[0].thread, 0x10u) << field;
  }
}

TEST_F(Contexts, OfWpfNamesItsThreadByItsDispatcher) {
  const std::uint64_t dispatcher =
      heap.object(heap.type("System.Windows.Threading.Dispatcher", {{"_dispatcherThread"}}));
  heap.set(dispatcher, {"_dispatcherThread"}, add_thread(0x20, {kWait}));
  const std::uint64_t wpf =
      heap.object(heap.type("System.Windows.Threading.DispatcherSynchronizationContext", {{"_dispatcher"}}, base));
  const std::uint64_t scheduler = heap.object(
      heap.type("System.Threading.Tasks.SynchronizationContextTaskScheduler", {{"m_synchronizationContext"}}));
  heap.set(wpf, {"_dispatcher"}, dispatcher);
  snapshot.contexts = {{wpf}, {heap.set(scheduler, {"m_synchronizationContext"}, wpf)}};
  add_context_threads(snapshot, target, clr);
  EXPECT_EQ(snapshot.contexts[0].thread, 0x20u);
  EXPECT_EQ(snapshot.contexts[1].thread, 0x20u);
}

// A scheduler with a task in its queue.
class Schedulers : public Contexts {
 protected:
  std::vector<std::string> running(const std::string& loop) const {
    return {kWait,
            "System.Threading.Tasks.TaskScheduler.TryExecuteTask(System.Threading.Tasks.Task)",
            loop};
  }
  std::uint32_t thread() {
    snapshot.contexts = {{scheduler}};
    snapshot.tasks = {{.address = 1,
                       .kind = TaskKind::delegate,
                       .status = TaskStatus::queued,
                       .object = scheduler}};
    add_context_threads(snapshot, target, clr);
    return snapshot.contexts[0].thread;
  }

  std::uint64_t type =
      heap.type("Hangs.OneThread", {}, heap.type("System.Threading.Tasks.TaskScheduler"));
  std::uint64_t scheduler = heap.object(type);
};

TEST_F(Schedulers, AreServedByTheThreadThatRunsTheirTasks) {
  add_thread(0x10, running("Hangs.OneThread.Run()"));
  EXPECT_EQ(thread(), 0u);  // of another scheduler of this type
  add_thread(0x20, running("Hangs.OneThread.Run()"), {scheduler});
  EXPECT_EQ(thread(), 0x20u);
  clr.clr_threads[1].state = 0x0100'0000;
  EXPECT_EQ(thread(), 0u);
}

TEST_F(Schedulers, RunTasksInLambdasAndInMethodsThatTheJitHasJoined) {
  const std::vector<std::string> frames{kWait, "System.Threading.Tasks.Task.ExecuteEntry()",
                                        "Hangs.OneThread.<.ctor>b__1_0()"};
  add_thread(0x20, frames, {scheduler});
  EXPECT_EQ(thread(), 0x20u);
}

TEST_F(Schedulers, WithoutATaskInTheQueueAreUnclear) {
  add_thread(0x20, running("Hangs.OneThread.Run()"), {scheduler});
  snapshot.contexts = {{scheduler}};
  snapshot.tasks.clear();
  add_context_threads(snapshot, target, clr);
  EXPECT_EQ(snapshot.contexts[0].thread, 0u);
}

// A further thread waits for tasks.
TEST_F(Schedulers, OfTwoThreadsAreUnclear) {
  add_thread(0x20, running("Hangs.OneThread.Run()"), {scheduler});
  add_thread(0x30, {kWait, "Hangs.OneThread+<>c__DisplayClass1_0.<.ctor>b__0()"});
  EXPECT_EQ(thread(), 0u);
}

TEST_F(Schedulers, WithAThreadForEachTaskAreUnclear) {
  add_thread(0x20, running("Hangs.OneThread.Run()"), {scheduler});
  clr.il_of_methods[{type, "QueueTask"}] = test::Code().call("System.Threading.Thread.Start").il;
  EXPECT_EQ(thread(), 0u);
}

// It waits for a task of the other one.
TEST_F(Schedulers, OfTwoOnOneStackAreUnclear) {
  add_thread(0x20, running("Hangs.OneThread.Run()"), {scheduler, heap.object(type)});
  EXPECT_EQ(thread(), 0u);
}

// ConcurrentExclusiveSchedulerPair: a worker of the pool runs the tasks of the exclusive scheduler.
class SchedulerPair : public Schedulers {
 protected:
  SchedulerPair() {
    scheduler = heap.set(heap.object(heap.type(pair_name + "+ConcurrentExclusiveTaskScheduler", {{"m_pair"}},
                                               heap.type("System.Threading.Tasks.TaskScheduler"))),
                         {"m_pair"}, pair);
    heap.set(pair, {"m_processingCount"}, 0xFFFF'FFFF);
  }
  // Its frames are 0x40 bytes each, of which the third one has the pair whose tasks it runs.
  void add_worker(std::uint32_t os_id, std::uint64_t near_leaf, std::uint64_t its_pair) {
    std::vector<std::uint64_t> words(3 * 8);
    words[1] = near_leaf;
    words[2 * 8 + 5] = its_pair;
    add_thread(os_id, {kWait, "Hangs.Program.Work()", pair_name + ".ProcessExclusiveTasks()", "T.InnerInvoke()"},
               words);
    clr.clr_threads.back().state = ClrThread::kPoolWorker;
  }

  const std::string pair_name = "System.Threading.Tasks.ConcurrentExclusiveSchedulerPair";
  const std::uint64_t pair_type = heap.type(pair_name, {{"m_processingCount"}});
  const std::uint64_t pair = heap.object(pair_type), other = heap.object(pair_type);
};

TEST_F(SchedulerPair, IsServedByTheThreadThatRunsItsExclusiveTasks) {
  add_worker(0x10, 0, other);
  EXPECT_EQ(thread(), 0u);
  add_worker(0x20, other, pair);
  EXPECT_EQ(thread(), 0x20u);
  heap.set(pair, {"m_processingCount"}, 2);  // tasks of the other scheduler run
  EXPECT_EQ(thread(), 0u);
  heap.set(pair, {"m_processingCount"}, 0xFFFF'FFFF);
  add_worker(0x30, 0, pair);
  EXPECT_EQ(thread(), 0u);
}

// It waits for a task that is queued for the pair, and that no thread runs yet.
TEST_F(SchedulerPair, IsNotServedByAThreadOfAnotherPair) {
  add_worker(0x10, pair, other);
  EXPECT_EQ(thread(), 0u);
  heap.put(test::StandingTarget::kStack + 0x10 * 0x1'0000 + 0x300, pair);  // in a method that has called the pair
  EXPECT_EQ(thread(), 0u);
}

// A method goes on there when its time is over.
TEST_F(SchedulerPair, IsServedAlsoIfNothingIsInItsQueue) {
  add_worker(0x10, 0, pair);
  snapshot.contexts = {{scheduler}};
  add_context_threads(snapshot, target, clr);
  EXPECT_EQ(snapshot.contexts[0].thread, 0x10u);
}

TEST_F(Schedulers, ThatAThreadOnlyUsesAreNotServedByIt) {
  add_thread(0x20, running("Hangs.OneThread.TryExecuteTaskInline(System.Threading.Tasks.Task)"),
             {scheduler});
  EXPECT_EQ(thread(), 0u);
}

TEST(IsLoopOf, MethodsOfTheTypeThatNotAllThreadsCall) {
  EXPECT_TRUE(is_loop_of("Hangs.Desk.Run()", "Hangs.Desk"));
  EXPECT_TRUE(is_loop_of("Hangs.Desk<System.Int32>.Run<System.String>()", "Hangs.Desk"));
  EXPECT_FALSE(is_loop_of("Hangs.Desk.Post(System.Threading.SendOrPostCallback, System.Object)", "Hangs.Desk"));
  EXPECT_FALSE(is_loop_of("Hangs.Desk..ctor()", "Hangs.Desk"));
  EXPECT_FALSE(is_loop_of("Hangs.Desk+Inner.Run()", "Hangs.Desk"));
  EXPECT_FALSE(is_loop_of("Hangs.Desk.Inner.Run()", "Hangs.Desk"));
  EXPECT_FALSE(is_loop_of("Hangs.Desktop.Run()", "Hangs.Desk"));
  EXPECT_FALSE(is_loop_of("Hangs.Desk<", "Hangs.Desk"));
  EXPECT_FALSE(is_loop_of("", ""));
}

}  // namespace
}  // namespace mixwalk
