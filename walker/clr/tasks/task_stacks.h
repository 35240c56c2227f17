#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "walker/clr/tasks/managed_objects.h"
#include "walker/clr/tasks/task_graph.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Finds the tasks that the stacks of threads show, by the names of their managed frames, and by objects. Nothing of the
// target is trusted. Not frozen-safe.

// Whether the thread blocks until a task ends (Task.Wait, .Result, Task.WaitAll).
bool waits_for_task(const Thread& thread);

// The end address of the part of a thread's stack that has objects of tasks. Returns nothing if the thread neither
// waits for a task nor runs the code of one.
std::optional<std::uint64_t> task_stack_end(const Thread& thread);

// A thread with its registers, and the words of its stack from the stack pointer of its first frame on.
struct TaskStack {
  const Thread* thread = nullptr;
  std::vector<std::uint64_t> registers;
  std::vector<std::uint64_t> words;

  bool operator==(const TaskStack&) const = default;
};

// The tasks for which these threads wait, and those whose code is on their stacks.
//
// - A thread waits for a Task if both are on its stack: the Task, and an event that the Task sets at its end
//   (Task.SpinThenBlockingWait makes a SetOnInvokeMres, and gives it to the Task as a continuation).
// - A thread runs a Task, or a method's state machine, if the frames that do so have one such object, which has begun
//   and has not ended. It also runs the task of Timer.DisposeAsync if it is in the callback of that timer.
TasksOfThreads tasks_of_threads(ManagedObjects& objects, std::span<const TaskStack> stacks);

}  // namespace mixwalk
