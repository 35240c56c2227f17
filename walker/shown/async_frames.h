#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// A line about a task, below the frames of a thread or in a list of tasks. It is no frame: nothing of it is on a stack.
struct AsyncFrame {
  enum class Relation : std::uint8_t {
    awaits,      // the thread, or the task of an earlier line, waits for this task
    awaited_by,  // this task waits for the task that the thread runs, or for the task of the line before
    cut,         // more tasks follow that are not shown
  };
  Relation relation = Relation::awaits;
  std::uint32_t task = AsyncTask::kNone;  // an index into Snapshot::tasks; kNone for `cut`
  // How many branches the line is in: those of Task.WhenAll, for example.
  std::uint32_t depth = 0;
  std::uint32_t count = 1;  // so many branches alike, of which this is the first
  // Both are printable, with names that are clipped: "await Orders.Client.FetchAsync()  (Client.cs:42)", "done, its
  // continuation waits for thread 0x1a0 "ui"". `state` is empty if the next line says what the task waits for.
  std::string label, state;

  bool operator==(const AsyncFrame&) const = default;
};

// "await Orders.Client.FetchAsync()  (Client.cs:42) → done", with "3 × " before it for branches that are alike.
std::string line_of(const AsyncFrame& frame);

// Tasks that are alike, with all that they wait for, and that no thread waits for or runs.
struct TaskGroup {
  std::uint32_t first = 0;  // the one with the lowest address, an index into Snapshot::tasks
  std::size_t count = 0;
};

// What is shown of a dump's tasks. Refers to the snapshot. Pure.
class AsyncFrames {
 public:
  explicit AsyncFrames(const Snapshot& snapshot);

  // What the thread waits for, or who waits for the task that it runs. At most kMaxAsyncFrames lines and one that says
  // that lines are missing. Tasks may wait for each other in a circle.
  std::vector<AsyncFrame> of(const Thread& thread) const;
  // The task, and what it waits for.
  std::vector<AsyncFrame> of(std::uint32_t task) const;
  // The threads and the async methods that hold a lock: "thread 0x1a0 "ui", Orders.Client.FetchAsync()". Empty if none
  // is known.
  std::string holder_words(const Lock& lock) const;
  // The chains of tasks that are below no thread, each by its first task: the largest group first.
  std::vector<TaskGroup> groups() const;

 private:
  struct Path;

  void add_awaited(Path& path, std::uint32_t task, std::uint32_t depth, std::uint32_t count) const;
  void add_awaiters(Path& path, std::uint32_t task) const;
  // What a task waits for: each kind of branch once, with its count.
  std::vector<TaskGroup> branches_of(const AsyncTask& task) const;
  std::string label_of(const AsyncTask& task, std::string_view verb) const;
  std::string state_of(const AsyncTask& task, bool is_followed) const;
  std::string thread_words(std::uint32_t os_id) const;
  std::string context_words(std::uint32_t context) const;
  void number_kinds();

  struct Running {
    std::uint32_t os_id = 0, task = 0;
  };

  const Snapshot& snapshot_;
  std::vector<Running> running_;  // sorted by thread
  std::vector<std::uint32_t> kinds_;  // by task: equal for tasks that are alike, with all that they wait for
  std::vector<std::vector<std::uint32_t>> awaiters_;  // by task: who waits for it; empty if there are no tasks
};

inline constexpr std::size_t kMaxAsyncFrames = 64;    // of one thread, or of one chain
inline constexpr std::size_t kMaxAsyncBranches = 5;   // of one task
inline constexpr std::size_t kMaxAsyncNameBytes = 400;

// "213 items queued, 16 of 16 workers work, 16 may work (4 to 32767)". Empty if nothing is known.
std::string pool_sentence(const ThreadPoolState& pool);

}  // namespace mixwalk
