#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "walker/clr/tasks/managed_objects.h"
#include "walker/clr/tasks/task_reader.h"
#include "walker/model/async.h"

namespace mixwalk {

// Limits of a search for tasks.
struct TaskLimits {
  bool heap = false;  // also tasks for which no thread waits: those of the whole heap
  // The most tasks that are taken. If threads already wait for that many, half as many more are taken from the heap.
  std::size_t tasks = 100'000;
  // If the heap has more tasks: how many tasks of each chain are taken before more of any chain. A chain of many tasks
  // then leaves room for the others.
  std::uint32_t chain = 1000;
  std::chrono::milliseconds time = std::chrono::seconds(10);
  // The part of it for a walk through the heap.
  std::chrono::milliseconds heap_time = std::chrono::seconds(3);
};

// A thread and a task: one that it waits for, or one whose code is on its stack.
struct TaskOfThread {
  std::uint32_t os_id = 0;
  std::uint64_t task = 0;  // address

  bool operator==(const TaskOfThread&) const = default;
};

// The tasks of threads, as their stacks show them (task_stacks.h).
struct TasksOfThreads {
  std::vector<TaskOfThread> waited_for, running;
  // Threads that wait for all of several tasks (Task.WaitAll), with the object that counts those that have not ended.
  struct WaitedForAll {
    std::uint32_t os_id = 0;
    std::uint64_t counter = 0;
    std::vector<std::uint64_t> tasks;

    bool operator==(const WaitedForAll&) const = default;
  };
  std::vector<WaitedForAll> waited_for_all;

  bool operator==(const TasksOfThreads&) const = default;
};

// What a search has found. Indices are those of AsyncTask.
struct FoundTasks {
  std::vector<AsyncTask> tasks;  // sorted by address
  std::vector<AsyncContext> contexts;
  std::vector<Assembly> assemblies;  // AsyncTask::il
  std::map<std::uint32_t, std::uint32_t> waited_for;  // by the thread's OS id: an index into `tasks`
  std::string missing;                                // as Snapshot::tasks_missing

  bool operator==(const FoundTasks&) const = default;
};

// The texts for FoundTasks::missing if a limit ended the search.
inline constexpr char kTasksTimeOver[] = "the time for the tasks was over",
                      kHeapNotRead[] = "the heap could not be read, so what some tasks wait for is not known";

// Follows the tasks for which threads wait, to what these wait for, and so on: task, async method, awaiter, task. For
// each, it finds where the code goes on that waits for it. Each task is read once, so chains that loop end. Nothing of
// the target is trusted. Not frozen-safe.
FoundTasks find_tasks(ManagedObjects& objects, const TasksOfThreads& threads, const TaskLimits& limits = {});

// What two reads of a running process agree on. A task that the second read has changed keeps its name, but not what it
// waits for. If it is an async method, it runs, on an unknown thread.
FoundTasks consistent_tasks(const FoundTasks& first, FoundTasks second);

}  // namespace mixwalk
