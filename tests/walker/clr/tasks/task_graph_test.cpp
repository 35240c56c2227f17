#include "walker/clr/tasks/task_graph.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/walker/clr/tasks/task_objects.h"
#include "walker/clr/tasks/delegates.h"

namespace mixwalk {
namespace {

using test::TaskObjects;

constexpr std::uint32_t kThread = 0x1A0;

class TaskGraphTest : public testing::Test, protected TaskObjects {
 protected:
  // What a thread waits for that waits for this task.
  FoundTasks find(std::uint64_t task, const TaskLimits& limits = {}) {
    ManagedObjects objects(memory, clr);
    found = find_tasks(objects, {.waited_for = {{kThread, task}}, .running = running, .waited_for_all = {}}, limits);
    return found;
  }
  const AsyncTask& at(std::uint64_t address) const {
    static const AsyncTask kMissing;
    for (const AsyncTask& task : found.tasks) {
      if (task.address == address) return task;
    }
    ADD_FAILURE() << "no task at " << address;
    return kMissing;
  }
  std::vector<std::uint64_t> awaits(std::uint64_t address) const {
    std::vector<std::uint64_t> awaited;
    for (const std::uint32_t index : at(address).awaits) awaited.push_back(found.tasks[index].address);
    return awaited;
  }

  std::uint64_t continuation_with(std::uint64_t action) {
    const std::uint64_t at = object(continuation_);
    put(at, "m_action", action);
    return at;
  }
  // A context with one thing in its queue, which is that of a thread.
  std::uint64_t context_with(std::uint64_t posted) {
    const std::uint64_t context = object(type("Own.Context", {{"_queue"}}, object_));
    put(context, "_queue", array({array({0, posted}), context}));
    const std::uint64_t thread =
        object(type("System.Threading.Thread", {{"_synchronizationContext"}}, object_));
    put(thread, "_synchronizationContext", context);
    clr.clr_threads = {{.address = 1, .os_id = kThread},
                       {.address = 2, .os_id = 7, .object = thread}};
    return context;
  }

  // A method at an await of Task.Yield().
  std::uint64_t yielding() {
    const std::uint64_t yield =
        value_type("System.Runtime.CompilerServices.YieldAwaitable+YieldAwaiter", {{"nothing", kInt}});
    const std::uint64_t machine =
        value_type("P+<Work>d__1", {{"<>1__state", kInt}, {"<>u__1", kValue, yield}});
    return task(type("AsyncStateMachineBox", {{"StateMachine", kValue, machine}}, task_));
  }

  const std::uint64_t continuation_ =
      type("System.Threading.Tasks.SynchronizationContextAwaitTaskContinuation",
           {{"m_action"}, {"m_syncContext"}}, object_);
  using Addresses = std::vector<std::uint64_t>;
  std::vector<TaskOfThread> running;
  FoundTasks found;
};

TEST_F(TaskGraphTest, ChainOfMethodsToACompletionSource) {
  const std::uint64_t source = task(task_of_int_);
  const std::uint64_t inner = method(0, "<>u__1", source), outer = method(1, "<>u__2", inner);
  find(outer);
  ASSERT_EQ(found.tasks.size(), 3u);
  EXPECT_EQ(found.tasks[found.waited_for.at(kThread)].address, outer);
  EXPECT_EQ(at(outer).kind, TaskKind::async_method);
  EXPECT_EQ(at(outer).method, "Orders.Client.FetchAsync()");
  EXPECT_EQ(at(outer).await_number, 1);
  EXPECT_EQ(at(outer).status, TaskStatus::waiting);
  EXPECT_EQ(awaits(outer), Addresses{inner});
  EXPECT_EQ(awaits(inner), Addresses{source});
  EXPECT_EQ(at(source).kind, TaskKind::completion_source);
  EXPECT_EQ(at(source).type, "System.Threading.Tasks.Task<System.Int32>");
  EXPECT_EQ(found.missing, "");
  EXPECT_TRUE(found.contexts.empty());
}

TEST_F(TaskGraphTest, MachineThatIsAnObject) {
  const std::uint64_t machine_type =
      type("Orders.Client+<SendAsync>d__4", {{"<>1__state", kInt}, {"<>u__1", kValue, awaiter_}}, object_);
  const std::uint64_t box_type = type(
      "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Threading.Tasks.VoidTaskResult>+"
      "DebugFinalizableAsyncStateMachineBox<Orders.Client+<SendAsync>d__4>",
      {{"StateMachine", kReference}}, task_);
  const std::uint64_t source = task(task_), machine = object(machine_type), box = task(box_type);
  put(box, "StateMachine", machine);
  put(machine, "<>1__state", std::int32_t{0});
  put(machine, "<>u__1", "m_task", source);
  find(box);
  EXPECT_EQ(at(box).method, "Orders.Client.SendAsync()");
  EXPECT_EQ(awaits(box), Addresses{source});
}

// The compiler clears an awaiter when the method goes on, but a class may not.
TEST_F(TaskGraphTest, AwaiterInUseIsTheOneThatLeadsBack) {
  const std::uint64_t first = task(task_of_int_), box = method(1, "<>u__1", first);
  const std::uint64_t second = task(task_of_int_, 0, list({object(object_), box}));
  put(box, "StateMachine", "<>u__2", second);
  find(box);
  EXPECT_EQ(awaits(box), Addresses{second});
}

TEST_F(TaskGraphTest, ValueTasksInAwaitersOfValues) {
  const std::uint64_t value_task =
      value_type("System.Threading.Tasks.ValueTask<System.Int32>", {{"_obj"}, {"_result", kInt}});
  const std::uint64_t awaiter =
      value_type("System.Runtime.CompilerServices.ConfiguredValueTaskAwaiter",
                 {{"_value", kValue, value_task}});
  const std::uint64_t machine = value_type("P+<Read>d__1", {{"<>1__state", kInt}, {"<>u__1", kValue, awaiter}});
  const std::uint64_t box_type = type("AsyncStateMachineBox", {{"StateMachine", kValue, machine}}, task_);
  const std::uint64_t operation_type =
      type("System.Threading.Channels.AsyncOperation<System.Int32>", {{"_completionReserved", kInt}}, object_);
  const std::uint64_t operation = object(operation_type), box = task(box_type);
  memory.put(box + field(box_type, "StateMachine").offset + field(machine, "<>u__1").offset, operation);
  find(box);
  EXPECT_EQ(awaits(box), Addresses{operation});
  EXPECT_EQ(at(operation).kind, TaskKind::channel);
  EXPECT_EQ(at(operation).status, TaskStatus::waiting);
  put(operation, "_completionReserved", 1);
  find(box);
  EXPECT_EQ(at(operation).status, TaskStatus::done);
}

// An awaiter of the program may go on with the method when something else happens.
TEST_F(TaskGraphTest, AwaitersOfTheProgramCountIfTheMethodFollowsTheTask) {
  const std::uint64_t either = value_type("P+Either", {{"first"}, {"second"}});
  const std::uint64_t machine =
      value_type("P+<Read>d__1", {{"<>1__state", kInt}, {"<>u__1", kValue, either}});
  const std::uint64_t box_type =
      type("AsyncStateMachineBox", {{"StateMachine", kValue, machine}}, task_);
  const std::uint64_t box = task(box_type), go_on = object(delegate_), first = task(task_),
                      second = task(task_);
  put(box, "m_action", go_on);
  const std::uint64_t at =
      box + field(box_type, "StateMachine").offset + field(machine, "<>u__1").offset;
  memory.put(at + field(either, "first").offset, first);
  memory.put(at + field(either, "second").offset, second);
  find(box);
  EXPECT_EQ(awaits(box), Addresses{});
  EXPECT_EQ(this->at(box).await_number, 0);
  for (const std::uint64_t follows : {go_on, box, continuation_with(go_on)}) {
    put(second, "m_continuationObject", follows);
    find(box);
    EXPECT_EQ(awaits(box), Addresses{second});
  }
  put(first, "m_continuationObject", go_on);
  find(box);
  EXPECT_EQ(awaits(box), Addresses{});
}

TEST_F(TaskGraphTest, AwaitersThatAreObjectsOfTheProgramCountInTheSameWay) {
  const std::uint64_t limit = type("P+Limit", {{"task"}});
  const std::uint64_t machine = value_type("P+<Read>d__1", {{"<>1__state", kInt}, {"<>u__1"}});
  const std::uint64_t box_type =
      type("AsyncStateMachineBox", {{"StateMachine", kValue, machine}}, task_);
  const std::uint64_t box = task(box_type), awaiter = object(limit), limited = task(task_);
  put(awaiter, "task", limited);
  memory.put(box + field(box_type, "StateMachine").offset + field(machine, "<>u__1").offset,
             awaiter);
  find(box);
  EXPECT_EQ(awaits(box), Addresses{awaiter});
  put(limited, "m_continuationObject", box);
  find(box);
  EXPECT_EQ(awaits(box), Addresses{limited});
}

// The machine of a method with `yield return`, which its caller awaits, has a box of its own.
TEST_F(TaskGraphTest, IteratorGoesOnWhereItsBoxIsPosted) {
  const std::uint64_t builder =
      value_type("System.Runtime.CompilerServices.AsyncIteratorMethodBuilder", {{"m_task"}});
  const std::uint64_t machine_type =
      type("P+<Items>d__1",
           {{"<>1__state", kInt}, {"<>t__builder", kValue, builder}, {"<>u__1", kValue, awaiter_}},
           object_);
  const std::uint64_t box_type = type("AsyncStateMachineBox", {{"StateMachine"}}, task_);
  const std::uint64_t machine = object(machine_type), box = task(box_type),
                      go_on = object(delegate_);
  const std::uint64_t ended = task(task_, kDone);
  put(box, "StateMachine", machine);
  put(box, "m_action", go_on);
  put(machine, "<>t__builder", "m_task", box);
  put(machine, "<>u__1", "m_task", ended);
  const std::uint64_t context = context_with(go_on);
  find(machine);
  EXPECT_EQ(awaits(machine), Addresses{ended});
  ASSERT_EQ(found.contexts.size(), 1u);
  EXPECT_EQ(found.contexts[0].address, context);
  EXPECT_EQ(at(ended).continues_on, 0u);
  EXPECT_EQ(at(machine).status, TaskStatus::waiting);
  // At a `yield return` the caller can go on; the numbers of those begin at -4.
  for (const std::int32_t state : {-2, -4, -5}) {
    put(machine, "<>1__state", state);
    find(machine);
    EXPECT_EQ(at(machine).status, TaskStatus::done) << state;
  }
  for (const std::int32_t state : {-1, -3}) {
    put(machine, "<>1__state", state);
    find(machine);
    EXPECT_EQ(at(machine).status, TaskStatus::waiting) << state;
  }
}

// What goes on behind Task.Yield() may be in the queue of a context.
TEST_F(TaskGraphTest, YieldInAContext) {
  const std::uint64_t box = yielding();
  const std::uint64_t go_on = object(delegate_);
  put(box, "m_action", go_on);
  find(box);
  EXPECT_EQ(at(box).status, TaskStatus::queued);
  EXPECT_EQ(at(box).object, 0u);
  const std::uint64_t context = context_with(go_on);
  find(box);
  EXPECT_EQ(at(box).status, TaskStatus::queued);
  EXPECT_EQ(at(box).object, context);
  EXPECT_EQ(at(box).object_type, "Own.Context");
  ASSERT_EQ(found.contexts.size(), 1u);
  EXPECT_EQ(found.contexts[0].address, context);
}

// Whatever the source is: it has ended if .NET has posted what goes on.
TEST_F(TaskGraphTest, SourceWhoseMethodIsInTheQueueOfAContext) {
  const std::uint64_t awaiter = value_type("System.Runtime.CompilerServices.ValueTaskAwaiter", {{"_obj"}});
  const std::uint64_t machine = value_type("P+<Read>d__1", {{"<>1__state", kInt}, {"<>u__1", kValue, awaiter}});
  const std::uint64_t box_type = type("AsyncStateMachineBox", {{"StateMachine", kValue, machine}}, task_);
  const std::uint64_t source = object(type("System.Net.Sockets.AwaitableSocketAsyncEventArgs", {}, object_));
  const std::uint64_t box = task(box_type), post = object(type("System.Threading.SendOrPostCallback", {}, delegate_));
  memory.put(box + field(box_type, "StateMachine").offset + field(machine, "<>u__1").offset, source);
  const std::uint64_t pair = object(type("System.Tuple<System.Action<System.Object>,System.Object>", {{"m_Item2"}}));
  put(pair, "m_Item2", box);
  const auto is_ended = [&](std::uint64_t posted) {
    const std::uint64_t context = context_with(array({post, posted}));
    find(box);
    const bool ended = at(source).status == TaskStatus::done;
    EXPECT_EQ(ended, at(source).not_resumed);
    EXPECT_EQ(ended, !found.contexts.empty() && found.contexts[0].address == context);
    return ended;
  };
  EXPECT_EQ(at((find(box), source)).kind, TaskKind::io);
  EXPECT_EQ(awaits(box), Addresses{source});
  // Something else than .NET has posted it.
  put(post, "_target", object(type("P+<>c")));
  for (const std::uint64_t posted : {box, source, pair}) EXPECT_FALSE(is_ended(posted));
  for (const char* const by : {"System.Action<System.Object>", "System.Threading.Channels.AsyncOperation+<>c"}) {
    put(post, "_target", object(type(by)));
    for (const std::uint64_t posted : {box, source, pair, array({box})}) EXPECT_TRUE(is_ended(posted)) << by;
  }
  // What only leads to the method may have another purpose.
  const std::uint64_t other = object(type("P.Request", {{"method"}}));
  put(other, "method", box);
  EXPECT_FALSE(is_ended(other));
}

// .NET posts the method itself, with a delegate of its own beside it.
TEST_F(TaskGraphTest, YieldInAContextWithoutADelegateOfTheMethod) {
  const std::uint64_t box = yielding();
  std::uint64_t context = context_with(box);  // it may be in a list of tasks
  find(box);
  EXPECT_EQ(at(box).object, 0u);
  const std::uint64_t post = object(type("System.Threading.SendOrPostCallback", {}, delegate_));
  context = context_with(array({post, box}));
  find(box);
  EXPECT_EQ(at(box).object, 0u);  // something else is posted beside it
  put(post, "_target", object(type("System.Runtime.CompilerServices.YieldAwaitable+YieldAwaiter+<>c")));
  find(box);
  EXPECT_EQ(at(box).object, context);
  context = context_with(array({post, array({box})}));  // as Windows Forms has it
  find(box);
  EXPECT_EQ(at(box).object, context);
}

// Under a TaskScheduler, Task.Yield() starts a task that goes on. A task that runs there leads to the scheduler.
TEST_F(TaskGraphTest, YieldUnderAScheduler) {
  const std::uint64_t box = yielding();
  const std::uint64_t of_pool = object(type("System.Threading.Tasks.ThreadPoolTaskScheduler"));
  const std::uint64_t scheduler = object(type("Own.Scheduler", {{"_queue"}}, object_));
  const std::uint64_t started = type("System.Threading.Tasks.Task", {{"m_taskScheduler"}, {"m_stateObject"}}, task_);
  const std::uint64_t go_on = object(type("System.Action<System.Object>", {}, delegate_));
  put(go_on, "_target", object(type("System.Runtime.CompilerServices.YieldAwaitable+YieldAwaiter+<>c")));
  const std::uint64_t queued = task(started, kStarted), run = task(started, kStarted | kBegun);
  put(queued, "m_action", go_on);
  put(queued, "m_stateObject", box);
  put(queued, "m_taskScheduler", scheduler);
  put(scheduler, "_queue", array({0, queued}));
  put(run, "m_action", object(delegate_));
  running = {{7, run}};
  const auto scheduler_of_box = [&] {
    ManagedObjects objects(memory, clr);
    found = find_tasks(objects, {.waited_for = {{kThread, box}}, .running = running, .waited_for_all = {}});
    return at(box).object;
  };
  put(run, "m_taskScheduler", of_pool);
  EXPECT_EQ(scheduler_of_box(), 0u);
  put(run, "m_taskScheduler", scheduler);
  EXPECT_EQ(scheduler_of_box(), scheduler);
  EXPECT_EQ(at(box).status, TaskStatus::queued);
  ASSERT_EQ(found.contexts.size(), 1u);
  EXPECT_EQ(found.contexts[0].type, "Own.Scheduler");
  put(queued, "m_stateFlags", kStarted | kBegun);  // it runs, and is in the queue no more
  EXPECT_EQ(scheduler_of_box(), 0u);
  put(queued, "m_stateFlags", kStarted);
  // It is of another scheduler, which the list of this one does not serve.
  for (const std::uint64_t other : {of_pool, object(type("Own.Scheduler", {{"_queue"}}, object_)), std::uint64_t{0}}) {
    put(queued, "m_taskScheduler", other);
    EXPECT_EQ(scheduler_of_box(), 0u);
  }
  const std::uint64_t posts =
      object(type("System.Threading.Tasks.SynchronizationContextTaskScheduler", {{"m_synchronizationContext"}}, object_));
  put(queued, "m_taskScheduler", posts);
  EXPECT_EQ(scheduler_of_box(), 0u);
  put(posts, "m_synchronizationContext", scheduler);
  EXPECT_EQ(scheduler_of_box(), scheduler);
}

TEST_F(TaskGraphTest, TaskThatAThreadRuns) {
  const std::uint64_t action = object(delegate_), run = task(task_, kStarted | kBegun);
  put(run, "m_action", action);
  const std::uint64_t queued = task(task_, kStarted);
  put(queued, "m_action", action);
  running = {{7, run}, {8, queued}};
  find(run);
  EXPECT_EQ(at(run).kind, TaskKind::delegate);
  EXPECT_EQ(at(run).status, TaskStatus::running);
  EXPECT_EQ(at(run).thread, 7u);
  // A method at an await, or one that has ended, does not run, whatever is on a stack.
  const std::uint64_t source = task(task_of_int_), box = method(0, "<>u__1", source);
  const std::uint64_t ended = task(task_of_int_, kDone);
  running = {{7, box}, {8, ended}};
  find(box);
  EXPECT_EQ(at(box).thread, 0u);
  EXPECT_EQ(at(ended).thread, 0u);
  put(box, "StateMachine", "<>1__state", std::int32_t{-1});
  find(box);
  EXPECT_EQ(at(box).thread, 7u);
  EXPECT_EQ(at(box).await_number, -1);
  EXPECT_TRUE(awaits(box).empty());
}

// A query of PLINQ: one task whose delegate has ended, and that ends after those attached to it.
TEST_F(TaskGraphTest, TaskThatWaitsForThoseAttachedToIt) {
  constexpr std::uint32_t kWaitsForChildren = 0x80'0000;
  const std::uint64_t action = object(delegate_), query = task(task_, kStarted | kBegun | kWaitsForChildren);
  const std::uint64_t more = object(type("System.Threading.Tasks.Task+ContingentProperties", {{"m_parent"}}, object_));
  put(more, "m_parent", query);
  const std::uint64_t attached = task(task_, kStarted | kBegun), other = task(task_, kStarted | kBegun);
  for (const std::uint64_t of : {query, attached, other}) put(of, "m_action", action);
  put(attached, "m_contingentProperties", more);
  running = {{7, attached}, {8, other}};
  find(query);
  EXPECT_EQ(at(query).status, TaskStatus::waiting);
  EXPECT_EQ(awaits(query), Addresses{attached});
  EXPECT_EQ(at(attached).thread, 7u);
  // Of its children none is known.
  running = {{8, other}};
  find(query);
  EXPECT_EQ(at(query).status, TaskStatus::running);
  EXPECT_TRUE(awaits(query).empty());
  // It is still in its own delegate.
  put(query, "m_stateFlags", kStarted | kBegun);
  find(query);
  EXPECT_EQ(at(query).status, TaskStatus::running);
  EXPECT_TRUE(awaits(query).empty());
}

TEST_F(TaskGraphTest, DelegateThatIsQueued) {
  const std::uint64_t action = object(delegate_), queued = task(task_, kStarted);
  put(queued, "m_action", action);
  put(action, "_methodPtr", std::uint64_t{0x5'0000'1000});
  clr.add_code({.method = 0x99, .start = 0x5'0000'1000, .hot_bytes = 0x10});
  clr.add_method(0x99, {.name = "P.Work()"});
  find(queued);
  EXPECT_EQ(at(queued).status, TaskStatus::queued);
  EXPECT_EQ(at(queued).method, "P.Work()");
}

// The two kinds of code that lead to a method that was never called.
TEST_F(TaskGraphTest, DelegateOfAMethodWithoutCode) {
  constexpr std::uint64_t kCode = 0x5'0000'1000, kData = 0x5'0000'5000;
  clr.add_method(0x99, {.name = "P.Never()"});
  const std::uint64_t action = object(delegate_);
  put(action, "_methodPtr", std::uint64_t{0x123});
  put(action, "_methodPtrAux", kCode);
  memory.put(kData + 8, std::uint64_t{0x99});
  ManagedObjects objects(memory, clr);
  const auto code = [&](std::initializer_list<int> bytes) {
    std::uint64_t at = kCode;
    for (const int byte : bytes) memory.put(at++, static_cast<std::uint8_t>(byte));
  };
  code({0xFF, 0x25, 0xFA, 0x3F, 0, 0, 0x4C, 0x8B, 0x15, 0xFB, 0x3F, 0, 0});
  EXPECT_EQ(method_of_delegate(objects, action), "P.Never()");
  code({0x4C, 0x8B, 0x15, 0x01, 0x40, 0, 0, 0xFF, 0x25});
  EXPECT_EQ(method_of_delegate(objects, action), "P.Never()");
  code({0x48, 0x8B, 0x15});
  EXPECT_EQ(method_of_delegate(objects, action), "");
  put(action, "_methodPtrAux", std::uint64_t{0x1234});
  EXPECT_EQ(method_of_delegate(objects, action), "");
}

TEST_F(TaskGraphTest, ContinuationWaitsForItsTask) {
  const std::uint64_t continuation_type =
      type("System.Threading.Tasks.ContinuationTaskFromTask", {{"m_antecedent"}}, task_);
  const std::uint64_t source = task(task_), continuation = task(continuation_type);
  put(continuation, "m_action", object(delegate_));
  put(continuation, "m_antecedent", source);
  find(continuation);
  EXPECT_EQ(awaits(continuation), Addresses{source});
  EXPECT_EQ(at(continuation).status, TaskStatus::waiting);
}

TEST_F(TaskGraphTest, AnyOfTwoTasks) {
  const std::uint64_t any_type =
      type("System.Threading.Tasks.Task+TwoTaskWhenAnyPromise<System.Threading.Tasks.Task>", {{"_task1"}, {"_task2"}},
           task_);
  const std::uint64_t one = task(task_), other = task(task_), any = task(any_type);
  put(any, "_task1", one);
  put(any, "_task2", other);
  find(any);
  EXPECT_EQ(at(any).kind, TaskKind::when_any);
  EXPECT_EQ(awaits(any), (Addresses{one, other}));
}

// Task.WhenAll keeps only a number, so the tasks are found by their continuations, in the heap.
TEST_F(TaskGraphTest, AllOfSeveralTasksAndTheTaskOfATask) {
  const std::uint64_t all = task(type("System.Threading.Tasks.Task+WhenAllPromise", {}, task_));
  const std::uint64_t unwrap = task(type("System.Threading.Tasks.UnwrapPromise<System.Int32>", {}, task_), 0, all);
  const std::uint64_t other = task(task_, 0, list({object(object_), all}));
  task(task_, kDone, all);
  const std::uint64_t inner = method(0, "<>u__1", task(task_of_int_));
  put(inner, "m_continuationObject", unwrap);
  find(all);
  EXPECT_EQ(at(all).kind, TaskKind::when_all);
  EXPECT_EQ(awaits(all), (Addresses{unwrap, other}));
  EXPECT_EQ(awaits(unwrap), Addresses{inner});
  EXPECT_EQ(found.missing, "");
  clr.heap_parts.clear();
  find(all);
  EXPECT_TRUE(awaits(all).empty());
  EXPECT_EQ(found.missing, kHeapNotRead);
}

TEST_F(TaskGraphTest, TaskInTheQueueOfASemaphore) {
  const std::uint64_t node_type = type("System.Threading.SemaphoreSlim+TaskNode", {{"Prev"}, {"Next"}},
                                       type("System.Threading.Tasks.Task<System.Boolean>", {}, task_));
  const std::uint64_t semaphore =
      object(type("System.Threading.SemaphoreSlim", {{"m_currentCount", kInt}, {"m_asyncHead"}}, object_));
  const std::uint64_t first = task(node_type), second = task(node_type);
  put(semaphore, "m_asyncHead", first);
  put(first, "Next", second);
  put(second, "Next", first);
  find(method(0, "<>u__1", second));
  EXPECT_EQ(at(second).kind, TaskKind::semaphore);
  EXPECT_EQ(at(second).object, semaphore);
  EXPECT_EQ(at(second).object_type, "System.Threading.SemaphoreSlim");
}

TEST_F(TaskGraphTest, DelayWithItsTime) {
  const std::uint64_t timer =
      object(type("System.Threading.TimerQueueTimer", {{"_startTicks", 0x0A}, {"_dueTime", 9}}, object_));
  const std::uint64_t delay = task(type("System.Threading.Tasks.Task+DelayPromise", {{"_timer"}}, task_));
  put(delay, "_timer", timer);
  put(timer, "_startTicks", std::int64_t{1000});
  put(timer, "_dueTime", std::uint32_t{15'000});
  find(delay);
  EXPECT_EQ(at(delay).kind, TaskKind::delay);
  EXPECT_EQ(at(delay).due_ms, -1);  // the time is not known
  memory.put(0x7FFE'0008ull, std::uint64_t{60'000'000});
  memory.put(0x7FFE'03B0ull, std::uint64_t{10'000'000});
  find(delay);
  EXPECT_EQ(at(delay).due_ms, 11'000);
  put(timer, "_dueTime", ~0u);
  find(delay);
  EXPECT_EQ(at(delay).due_ms, -1);
}

// A task that has not ended says to which context its continuation goes.
TEST_F(TaskGraphTest, ContinuationOfAnOpenTask) {
  const std::uint64_t context = object(type("Forms.Context", {}, object_)),
                      continuation = object(continuation_);
  put(continuation, "m_syncContext", context);
  const std::uint64_t source = task(task_of_int_, 0, continuation);
  find(method(0, "<>u__1", source));
  ASSERT_EQ(found.contexts.size(), 1u);
  EXPECT_EQ(found.contexts[0].address, context);
  EXPECT_EQ(found.contexts[0].type, "Forms.Context");
  EXPECT_EQ(at(source).continues_on, 0u);
  EXPECT_FALSE(at(source).not_resumed);
}

TEST_F(TaskGraphTest, ContinuationsInDifferentContexts) {
  const std::uint64_t context = object(type("Forms.Context", {}, object_)),
                      in_context = object(continuation_);
  put(in_context, "m_syncContext", context);
  const std::uint64_t without = object(delegate_);
  const std::uint64_t source = task(task_of_int_, 0, list({in_context, without}));
  const std::uint64_t other = task(task_of_int_, 0, list({in_context, in_context}));
  find(method(0, "<>u__1", source));
  EXPECT_EQ(at(source).continues_on, AsyncTask::kNone);
  find(method(0, "<>u__1", other));
  EXPECT_EQ(at(other).continues_on, 0u);
}

// A task that has ended has forgotten its continuation. The queue of the thread's context has it.
TEST_F(TaskGraphTest, ContinuationInTheQueueOfAContext) {
  const std::uint64_t done = task(task_of_int_, kDone), box = method(0, "<>u__1", done), go_on = object(delegate_);
  put(box, "m_action", go_on);
  find(box);
  EXPECT_TRUE(at(done).not_resumed);
  EXPECT_EQ(at(done).continues_on, AsyncTask::kNone);
  const std::uint64_t context = context_with(go_on);
  find(box);
  EXPECT_TRUE(at(done).not_resumed);
  ASSERT_EQ(at(done).continues_on, 0u);
  EXPECT_EQ(found.contexts[0].address, context);
}

TEST_F(TaskGraphTest, TasksThatWaitForEachOther) {
  const std::uint64_t one = method(0, "<>u__1", 0), other = method(0, "<>u__1", one);
  put(one, "StateMachine", "<>u__1", other);
  find(one);
  EXPECT_EQ(found.tasks.size(), 2u);
  EXPECT_EQ(awaits(one), Addresses{other});
  EXPECT_EQ(awaits(other), Addresses{one});
}

TEST_F(TaskGraphTest, LimitOfTasks) {
  std::uint64_t last = task(task_of_int_);
  for (int i = 0; i < 20; ++i) last = method(0, "<>u__1", last);
  find(last, {.tasks = 10});
  EXPECT_EQ(found.tasks.size(), 10u);
  EXPECT_EQ(found.missing, "there are more than 10 tasks, and the others are left out");
  find(last, {.heap = true});
  EXPECT_EQ(found.tasks.size(), 21u);
}

TEST_F(TaskGraphTest, TasksOfTheHeapForWhichNoThreadWaits) {
  const std::uint64_t source = task(task_of_int_), box = method(0, "<>u__1", source);
  task(task_, kDone);
  ManagedObjects objects(memory, clr);
  found = find_tasks(objects, {}, {.heap = true});
  ASSERT_EQ(found.tasks.size(), 2u);
  EXPECT_EQ(awaits(box), Addresses{source});
}

// Of 40 tasks, a chain has 30. It is cut, so that the others are there.
class LongChain : public TaskGraphTest {
 protected:
  // `by_context`: the continuations are posted to a context.
  void expect_cut(bool by_context) {
    const std::uint64_t leaf = task(task_of_int_);
    std::uint64_t head = leaf;
    for (int i = 0; i < 29; ++i) {
      const std::uint64_t box = method(0, "<>u__1", head), go_on = object(delegate_);
      put(go_on, "_target", box);
      put(head, "m_continuationObject", by_context ? list({object(object_), continuation_with(go_on)}) : box);
      head = box;
    }
    Addresses others;
    for (int i = 0; i < 5; ++i) {
      const std::uint64_t source = task(task_of_int_);
      others.push_back(method(0, "<>u__1", source));
      put(source, "m_continuationObject", others.back());
    }
    find_in_heap(20);
    EXPECT_EQ(found.tasks.size(), 20u);
    EXPECT_TRUE(has(head));
    EXPECT_FALSE(has(leaf));
    for (const std::uint64_t other : others) EXPECT_EQ(awaits(other).size(), 1u);
    EXPECT_EQ(found.missing, "there are more than 20 tasks, and the rest of chains with more than 4 tasks is left out");
    find_in_heap(40);
    EXPECT_TRUE(has(leaf));
    EXPECT_EQ(found.missing, "");
  }
  void find_in_heap(std::size_t tasks) {
    ManagedObjects objects(memory, clr);
    found = find_tasks(objects, {}, {.heap = true, .tasks = tasks, .chain = 4});
  }
  bool has(std::uint64_t address) const {
    return std::ranges::any_of(found.tasks, [&](const AsyncTask& task) { return task.address == address; });
  }
};

TEST_F(LongChain, LeavesRoomForTheOthers) { expect_cut(false); }

TEST_F(LongChain, OfAContextLeavesRoomForTheOthers) { expect_cut(true); }

// A thread waits for a chain that has as many tasks as are taken.
TEST_F(TaskGraphTest, AChainForWhichAThreadWaitsLeavesRoomForTheOthers) {
  std::uint64_t last = task(task_of_int_);
  for (int i = 0; i < 20; ++i) last = method(0, "<>u__1", last);
  const std::uint64_t other = method(0, "<>u__1", task(task_of_int_));
  find(last, {.heap = true, .tasks = 10});
  EXPECT_EQ(found.tasks.size(), 15u);
  EXPECT_EQ(found.missing, "there are more than 15 tasks, and the others are left out");
  find(last, {.heap = true, .tasks = 30});
  EXPECT_EQ(awaits(other).size(), 1u);
}

// Nobody awaits the box of a method with `yield return`, and it ends only with the method.
TEST_F(TaskGraphTest, IteratorOfTheHeapIsThatWhichIsAwaited) {
  const std::uint64_t builder =
      value_type("System.Runtime.CompilerServices.AsyncIteratorMethodBuilder", {{"m_task"}});
  const std::uint64_t machine = object(type(
      "P+<Items>d__1", {{"<>1__state", kInt}, {"<>t__builder", kValue, builder}, {"<>u__1", kValue, awaiter_}}));
  const std::uint64_t box = task(type("AsyncStateMachineBox", {{"StateMachine"}}, task_)), source = task(task_);
  put(box, "StateMachine", machine);
  put(machine, "<>t__builder", "m_task", box);
  put(machine, "<>u__1", "m_task", source);
  put(source, "m_continuationObject", box);
  const auto tasks = [&](std::int32_t state) {
    put(machine, "<>1__state", state);
    ManagedObjects objects(memory, clr);
    found = find_tasks(objects, {.waited_for = {}, .running = running, .waited_for_all = {}}, {.heap = true});
    Addresses addresses;
    for (const AsyncTask& task : found.tasks) addresses.push_back(task.address);
    return addresses;
  };
  EXPECT_EQ(tasks(0), (Addresses{machine, source}));
  EXPECT_EQ(awaits(machine), Addresses{source});
  for (const std::int32_t state : {-4, -5, -2}) EXPECT_EQ(tasks(state), Addresses{source}) << state;
  running = {{7, box}};
  EXPECT_EQ(tasks(-1), (Addresses{machine, source}));
  EXPECT_EQ(at(machine).status, TaskStatus::running);
  EXPECT_EQ(at(machine).thread, 7u);
}

// Memory in which the read of one place takes longer than a search may.
class SlowMemory final : public MemoryReader {
 public:
  SlowMemory(const MemoryReader& rest, std::uint64_t slow) : rest_(rest), slow_(slow) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    if (address == slow_) std::this_thread::sleep_for(kLimit);
    return rest_.read(address, into, bytes);
  }

  static constexpr std::chrono::milliseconds kLimit{200};

 private:
  const MemoryReader& rest_;
  const std::uint64_t slow_;
};

// They wait for nothing, so none of them is followed.
TEST_F(TaskGraphTest, TheTimeIsAlsoOverAmongIteratorsAtAYield) {
  const std::uint64_t builder =
      value_type("System.Runtime.CompilerServices.AsyncIteratorMethodBuilder", {{"m_task"}});
  const std::uint64_t machine_type =
      type("P+<Items>d__1", {{"<>1__state", kInt}, {"<>t__builder", kValue, builder}, {"<>u__1", kValue, awaiter_}});
  const std::uint64_t box_type = type("AsyncStateMachineBox", {{"StateMachine"}}, task_);
  std::uint64_t first = 0;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t machine = object(machine_type), box = task(box_type);
    put(box, "StateMachine", machine);
    put(machine, "<>t__builder", "m_task", box);
    put(machine, "<>1__state", -4);
    if (first == 0) first = machine + field(machine_type, "<>1__state").offset;
  }
  const SlowMemory slow(memory, first);
  ManagedObjects objects(slow, clr);
  found = find_tasks(objects, {}, {.heap = true, .time = SlowMemory::kLimit});
  EXPECT_EQ(found.missing, kTasksTimeOver);
}

TEST_F(TaskGraphTest, ContinuationsWithoutEnd) {
  const std::uint64_t endless = list({1, 2, 3});
  put(endless, "_size", ~0u);
  memory.put(*memory.read_value<std::uint64_t>(endless + field(list_, "_items").offset) + 8, ~0u);
  const std::uint64_t source = task(task_of_int_, 0, endless);
  EXPECT_EQ(find(method(0, "<>u__1", source)).tasks.size(), 2u);
  put(source, "m_continuationObject", source);
  EXPECT_EQ(find(source).tasks.size(), 1u);
}

// A million copies of an object, each with a reference to the next one in the same field; the last one has the first.
// Everything else is read from `rest`. The copies need no memory.
class MillionCopies final : public MemoryReader {
 public:
  static constexpr std::uint64_t kCount = 1'000'000;

  MillionCopies(const MemoryReader& rest, std::uint64_t begin, std::vector<std::byte> object, std::uint64_t next_at)
      : rest_(rest), begin_(begin), object_(std::move(object)), next_at_(next_at) {}

  std::uint64_t copy(std::uint64_t number) const { return begin_ + number % kCount * object_.size(); }
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    const std::uint64_t end = begin_ + kCount * object_.size();
    if (address < begin_ || address >= end) return rest_.read(address, into, bytes);
    if (bytes > end - address) return false;
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::uint64_t at = address + i - begin_, number = at / object_.size(), offset = at % object_.size();
      const std::uint64_t next = copy(number + 1);
      const bool is_next = offset >= next_at_ && offset < next_at_ + sizeof next;
      static_cast<std::byte*>(into)[i] =
          is_next ? reinterpret_cast<const std::byte*>(&next)[offset - next_at_] : object_[offset];
    }
    return true;
  }

 private:
  const MemoryReader& rest_;
  const std::uint64_t begin_;
  const std::vector<std::byte> object_;
  const std::uint64_t next_at_;  // the field, from the beginning of the object
};

// Hostile memory: a million methods that wait for each other in a circle, and tasks with a million references to them.
TEST_F(TaskGraphTest, AMillionTasks) {
  const std::uint64_t box = method(0, "<>u__1", 1);
  std::vector<std::byte> bytes(clr.types_of[box_].base_bytes);
  ASSERT_TRUE(memory.read(box, bytes.data(), bytes.size()));
  const std::uint64_t awaited = field(box_, "StateMachine").offset + field(machine_, "<>u__1").offset;
  const MillionCopies copies(memory, 0x4'0000'0000, bytes, awaited);
  constexpr std::size_t kMost = 3'000;
  const auto find_from = [&](std::uint64_t first) {
    ManagedObjects objects(copies, clr);
    found = find_tasks(objects, {.waited_for = {{kThread, first}}, .running = {}, .waited_for_all = {}},
                       {.tasks = kMost, .time = std::chrono::hours(1)});
  };

  find_from(copies.copy(0));
  EXPECT_EQ(found.tasks.size(), kMost);
  EXPECT_EQ(found.missing, "there are more than 3000 tasks, and the others are left out");
  EXPECT_EQ(at(copies.copy(kMost - 1)).awaits_left_out, 1u);
  EXPECT_EQ(awaits(copies.copy(7)), Addresses{copies.copy(8)});

  std::vector<std::uint64_t> million(MillionCopies::kCount);
  for (std::uint64_t i = 0; i < million.size(); ++i) million[i] = copies.copy(i);
  const std::uint64_t all =
      task(type("System.Threading.Tasks.Task+WhenAllPromise", {{"m_tasks"}}, task_));
  const std::uint64_t many = list(million);  // its array has room for two more
  put(all, "m_tasks", *memory.read_value<std::uint64_t>(many + field(list_, "_items").offset));
  find_from(all);
  EXPECT_EQ(found.tasks.size(), kMost);
  EXPECT_EQ(at(all).awaits.size(), kMaxAwaits);
  EXPECT_EQ(at(all).awaits_left_out, MillionCopies::kCount + 2 - kMaxAwaits);

  // A million methods wait for one task. None of them is followed, whether the task has ended or not.
  for (const std::uint32_t flags : {0u, kDone}) {
    const std::uint64_t source = task(task_of_int_, flags, many);
    find_from(source);
    EXPECT_LE(found.tasks.size(), kMaxAwaits + 1);
    EXPECT_EQ(at(source).status, flags == 0 ? TaskStatus::waiting : TaskStatus::done);
    find_from(method(0, "<>u__1", source));
    EXPECT_LE(found.tasks.size(), kMaxAwaits + 2);
  }
}

TEST_F(TaskGraphTest, NothingWhereNoObjectIs) {
  EXPECT_TRUE(find(0x10).tasks.empty());
  EXPECT_TRUE(find(0x2'4000'0000).tasks.empty());
  EXPECT_TRUE(found.waited_for.empty());
}

TEST_F(TaskGraphTest, ReadsThatAgree) {
  const std::uint64_t source = task(task_of_int_), box = method(0, "<>u__1", source);
  const FoundTasks first = find(box);
  EXPECT_EQ(consistent_tasks(first, first), first);
  put(box, "StateMachine", "<>1__state", std::int32_t{1});
  found = consistent_tasks(first, find(box));
  EXPECT_TRUE(awaits(box).empty());
  EXPECT_EQ(at(box).status, TaskStatus::running);
  EXPECT_EQ(at(box).method, "Orders.Client.FetchAsync()");
  EXPECT_EQ(found.waited_for.size(), 1u);
  found = consistent_tasks(first, find(source));
  EXPECT_TRUE(found.waited_for.empty());
}

}  // namespace
}  // namespace mixwalk
