#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "walker/model/frame.h"

namespace mixwalk {

// The asynchronous work of a program at the moment of the dump: tasks, what each of them waits for, and what runs the
// code that goes on when a task has ended. Texts are UTF-8 and come from the target, so they may contain anything.

// What will end a task.
enum class TaskKind : std::uint8_t {
  other,         // not known
  async_method,  // the code of an async method
  delegate,      // a delegate that a scheduler runs: Task.Run, a continuation (ContinueWith), Parallel
  completion_source,  // a call of TaskCompletionSource.SetResult and the like, by any code
  delay,              // a timer: Task.Delay, PeriodicTimer
  semaphore,          // a call of SemaphoreSlim.Release
  channel,            // a write to a channel, or a read from a full one
  when_all,           // the end of all of `awaits`
  when_any,           // the end of one of `awaits`
  io,                 // the system: a socket, a file, a process, a wait handle
  value_source,       // an IValueTaskSource of another kind
};
inline constexpr TaskKind kLastTaskKind = TaskKind::value_source;

enum class TaskStatus : std::uint8_t {
  waiting,    // not ended, and no thread runs it
  queued,     // its code is in the queue of a context, a scheduler or the thread pool: it has not begun, or has yielded
  running,    // a thread runs its code (AsyncTask::thread), or ran it while the tasks were read
  done,       // ended, with a result
  faulted,    // ended by an exception
  cancelled,  // ended by a cancellation
};
inline constexpr TaskStatus kLastTaskStatus = TaskStatus::cancelled;

constexpr bool has_ended(TaskStatus status) noexcept { return status >= TaskStatus::done; }

// A Task, or the object behind a ValueTask.
struct AsyncTask {
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  std::uint64_t address = 0;  // of the object
  TaskKind kind = TaskKind::other;
  TaskStatus status = TaskStatus::waiting;
  std::string type;  // of the object: "System.Threading.Tasks.Task<System.Int32>"
  // The method whose end ends the task: the async method ("Orders.Client.FetchAsync()"), or that of the delegate. Empty
  // if there is none, or if it is unknown.
  std::string method;
  // Of an async method: the number of its await, as the compiler counts them (<>1__state), or -1 if it is at none. The
  // file and the line are those of this await; empty and 0 if unknown. The number of the await names the line, so the
  // line is right in optimised code as well.
  std::int32_t await_number = -1;
  std::string file;
  std::uint32_t line = 0;
  // The code of the async method (MoveNext of its state machine), from which the line is found; without an offset. It
  // is known only until the lines are.
  IlPlace il;
  std::string source_url;  // as Frame::source_url
  // What it waits for: indices into Snapshot::tasks. An async method waits for at most one.
  std::vector<std::uint32_t> awaits;
  static constexpr std::size_t kMaxAwaits = 1000;  // of `awaits`
  // The tasks of `awaits` that were not followed, because there were too many.
  std::uint32_t awaits_left_out = 0;
  // The SemaphoreSlim, channel or other object at which it waits, by its address and type; 0 and empty if there is
  // none. A semaphore with this address may be among Snapshot::locks.
  std::uint64_t object = 0;
  std::string object_type;
  // The OS id of the thread on whose stack its code is; 0 if there is none. A task that is `waiting` has none.
  std::uint32_t thread = 0;
  // Where the code that waits for this task goes on: an index into Snapshot::contexts. kNone for the thread pool, for
  // the thread that ends the task, and if there is no such code. An ended task with a context was posted to it, and its
  // continuation has not begun.
  std::uint32_t continues_on = kNone;
  // Whether the task has ended, and the code that waits for it has not gone on: this code is in a queue.
  bool not_resumed = false;
  // Of a delay, in milliseconds from the moment of the dump until it ends; -1 if unknown or if it never ends by itself.
  std::int64_t due_ms = -1;

  bool operator==(const AsyncTask&) const = default;
};

// A SynchronizationContext or a TaskScheduler, other than the thread pool: it runs the continuations that are posted to
// it.
struct AsyncContext {
  // Of the object; 0 for a queue of the program that is not known.
  std::uint64_t address = 0;
  std::string type;           // "System.Windows.Forms.WindowsFormsSynchronizationContext"
  // The OS id of the thread that runs what is posted to the context, proven by objects, never by a guess; 0 if unknown.
  std::uint32_t thread = 0;

  bool operator==(const AsyncContext&) const = default;
};

// The thread pool of .NET. A number is -1 if it is not known.
struct ThreadPoolState {
  std::int64_t queued = -1;   // work items in all its queues, the local ones of threads included
  std::int32_t workers = -1;  // its threads that exist
  std::int32_t working = -1;  // of these, threads that process work
  std::int32_t goal = -1;     // how many threads may process work now
  std::int32_t min = -1, max = -1;
  // The methods of the first items in the queue, in their order, with their counts; empty if unknown.
  struct Item {
    std::string method;  // of the delegate, or the async method that goes on
    std::uint32_t count = 0;
    // The task that goes on or begins, an index into Snapshot::tasks; kNone if it is not among them.
    std::uint32_t task = AsyncTask::kNone;

    bool operator==(const Item&) const = default;
  };
  std::vector<Item> items;

  bool known() const noexcept { return queued >= 0 || workers >= 0; }
  bool operator==(const ThreadPoolState&) const = default;
};

}  // namespace mixwalk
