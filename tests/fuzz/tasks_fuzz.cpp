#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "tests/walker/clr/tasks/task_objects.h"
#include "walker/clr/tasks/task_stacks.h"

namespace mixwalk {
namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

// Objects of every kind that the search for tasks knows, with fields that lead to each other.
std::vector<std::uint64_t> build(test::TaskObjects& of) {
  using Objects = test::TaskObjects;
  const auto task_type = [&](const char* name, const std::vector<Objects::Field>& fields) {
    return of.type(name, fields, of.task_);
  };
  std::vector<std::uint64_t> objects = {of.task(of.task_of_int_),
                                        of.task(of.task_of_int_, Objects::kDone)};
  objects.push_back(of.method(0, "<>u__1", objects[0]));
  objects.push_back(of.method(1, "<>u__2", objects[1]));
  objects.push_back(of.object(of.delegate_));
  objects.push_back(of.list(objects));
  objects.push_back(of.array(objects));
  for (const std::uint64_t type :
       {task_type("System.Threading.Tasks.Task+WhenAllPromise", {}),
        task_type("System.Threading.Tasks.Task+WhenAllPromise<System.Int32>", {{"m_tasks"}}),
        task_type("System.Threading.Tasks.UnwrapPromise<System.Int32>", {}),
        task_type("System.Threading.Tasks.Task+TwoTaskWhenAnyPromise<System.Int32>",
                  {{"_task1"}, {"_task2"}}),
        task_type("System.Threading.Tasks.Task+DelayPromise", {{"_timer"}}),
        task_type("System.Threading.Tasks.Task+CancellationPromise<System.Int32>",
                  {{"_task"}, {"_timer"}}),
        task_type("System.Threading.SemaphoreSlim+TaskNode", {{"Prev"}, {"Next"}}),
        task_type("System.Threading.Tasks.ContinuationTaskFromTask", {{"m_antecedent"}}),
        of.type("System.Threading.SemaphoreSlim", {{"m_asyncHead"}}, of.object_),
        of.type("System.Threading.TimerQueueTimer", {{"_startTicks", 0x0A}, {"_dueTime", 9}},
                of.object_),
        of.type("System.Threading.Channels.AsyncOperation<System.Int32>",
                {{"_completionReserved", 8}}, of.object_),
        of.type("P+<Items>d__2", {{"<>1__state", 8}, {"<>u__1", 0x1C}}, of.object_),
        of.type("System.Threading.Tasks.Task+SetOnInvokeMres", {}, of.object_),
        of.type("System.Threading.Tasks.Task+SetOnCountdownMres", {}, of.object_),
        of.type("System.Threading.Tasks.SynchronizationContextAwaitTaskContinuation",
                {{"m_syncContext"}}, of.object_),
        of.type("System.Threading.Tasks.ContinueWithTaskContinuation", {{"m_taskScheduler"}},
                of.object_),
        of.type("System.Threading.Thread", {{"_synchronizationContext"}}, of.object_)}) {
    objects.push_back(of.object(type));
  }
  of.clr.clr_threads = {{.address = 1, .os_id = 5, .object = objects.back()}};
  return objects;
}

StackFrame frame(std::uint64_t stack_pointer, const char* name) {
  StackFrame frame;
  frame.kind = FrameKind::managed;
  frame.stack_pointer = stack_pointer;
  frame.name = name;
  return frame;
}

}  // namespace
}  // namespace mixwalk

// Whatever objects lead to each other, the search ends, and its indices are those of tasks. Each 4
// bytes of the input set a word of the heap or of the stack: its place, and the object to which it
// leads, or a number.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mixwalk;
  test::TaskObjects of;
  const std::vector<std::uint64_t> objects = build(of);
  const std::uint64_t words = (objects.back() + 64 - test::TaskObjects::kHeap) / 8;
  std::vector<std::uint64_t> stack(64);
  for (std::size_t at = 0; at + 4 <= size; at += 4) {
    const std::uint64_t place = std::uint64_t{data[at]} | std::uint64_t{data[at + 1]} << 8;
    const std::uint64_t value = (data[at + 2] & 1) != 0
                                    ? objects[data[at + 3] % objects.size()]
                                    : std::uint64_t{data[at + 3]} << (data[at + 2] >> 1) % 64;
    if ((place & 1) != 0) {
      stack[(place >> 1) % stack.size()] = value;
    } else {
      of.memory.put(test::TaskObjects::kHeap + 8 * ((place >> 1) % words), value);
    }
  }
  Thread thread{.os_id = 5};
  thread.stack.frames = {
      frame(0x1000, "System.Threading.ManualResetEventSlim.Wait(System.Int32)"),
      frame(0x1040, "System.Threading.Tasks.Task.InternalWaitCore(System.Int32)"),
      frame(0x1080, "Orders.Client+<FetchAsync>d__3.MoveNext()"),
      frame(0x10C0, "System.Threading.Tasks.Task.ExecuteWithThreadLocal(System.Object)"),
      frame(0x1100, "P.Main()"),
      frame(0x1180, "P.Start()")};
  const TaskStack words_of{&thread, {}, stack};
  for (const bool heap : {false, true}) {
    ManagedObjects read(of.memory, of.clr);
    const TasksOfThreads threads = tasks_of_threads(read, {&words_of, 1});
    const FoundTasks found = find_tasks(read, threads, {.heap = heap, .tasks = 100});
    check(found.tasks.size() <= 101);
    for (const AsyncTask& task : found.tasks) {
      for (const std::uint32_t index : task.awaits) check(index < found.tasks.size());
      check(task.continues_on == AsyncTask::kNone || task.continues_on < found.contexts.size());
    }
    for (const auto& [thread_id, index] : found.waited_for) check(index < found.tasks.size());
    check(consistent_tasks(found, found) == found);
  }
  return 0;
}
