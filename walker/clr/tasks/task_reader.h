#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "walker/clr/tasks/managed_objects.h"
#include "walker/model/async.h"

namespace mixwalk {

// A task as its object has it. What it leads to are addresses of objects.
struct ReadTask {
  AsyncTask task;                     // without `awaits`, `thread`, `continues_on` and `not_resumed`
  std::vector<std::uint64_t> awaits;  // Tasks, or objects behind ValueTasks
  std::uint64_t context = 0;          // the SynchronizationContext or TaskScheduler for what comes after its end
  std::uint64_t machine = 0;          // the MethodTable of the state machine of an async method at an await
  // What goes on at an await: the delegate that a context gets for it (0 if there is none), and whether it waits there.
  std::uint64_t resumed_by = 0;
  std::uint64_t box = 0;  // of an async method at an await: the object that .NET makes go on
  bool at_await = false;
  // Whether what it waits for is known only by the continuations of other tasks (Task.WhenAll, Unwrap).
  bool awaits_unknown = false;
  // The task to which it is attached (TaskCreationOptions.AttachedToParent), and whether it waits for such tasks
  // itself, because its delegate has ended: it ends after all of them.
  std::uint64_t parent = 0;
  bool has_children = false;
  bool yields = false;  // at an await of Task.Yield(): what goes on is in a queue
  std::uint64_t scheduler = 0;  // of a delegate: its TaskScheduler, other than that of the thread pool

  bool operator==(const ReadTask&) const = default;
};

// The most tasks that one task waits for, or continuations of one task, that are read.
inline constexpr std::size_t kMaxAwaits = AsyncTask::kMaxAwaits;

// Reads the task at an object's address: a Task, or the object behind a ValueTask. Returns nothing if there is neither.
// All by the names of types and fields of .NET 8 to 10. Nothing of the target is trusted. Not frozen-safe.
std::optional<ReadTask> read_task(ManagedObjects& objects, std::uint64_t object);

// The machine of an async iterator (a method with `yield return`), by its box: the caller awaits the machine, and
// nobody awaits the box, which ends with the iterator. 0 if the object is no such box.
std::uint64_t iterator_of(ManagedObjects& objects, std::uint64_t box);

// The name of the type of the state machine that an object is or has (the box of an async method); empty if it has
// none.
std::string machine_type_of(ManagedObjects& objects, std::uint64_t object);

// Calls `visit` for the continuations of a Task, in their order: objects that are told when it ends.
void visit_continuations(ManagedObjects& objects, std::uint64_t task, const ManagedType& type,
                         const std::function<void(std::uint64_t)>& visit);

// Task.m_stateFlags: whether the task has ended, and whether its delegate has begun.
inline constexpr std::uint32_t kTaskEnded = 0x0160'0000, kTaskBegun = 0x0002'0000;

}  // namespace mixwalk
