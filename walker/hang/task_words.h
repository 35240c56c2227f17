#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "walker/hang/wait_graph.h"

namespace mixwalk {

// The words for tasks and for waits that lead through them. The target's names in them are clipped, and otherwise
// unchanged.

// "Orders.Client.FetchAsync()", "a timer that ends in 12 s", "all of 3 tasks (Task.WhenAll)".
std::string task_words(const AsyncTask& task);

// The nodes from the task for which the thread waits to the thread or the other thing that ends its wait, which is not
// part of them if it is a thread. `owner` is that thread; kNone if there is none. Of several things that a task needs,
// the first is taken. Empty if the thread waits for no task of the dump, or for an ended one. At most kMaxTaskPath.
struct TaskPath {
  std::vector<std::uint32_t> nodes;
  std::uint32_t owner = WaitGraph::kNone;
};
inline constexpr std::size_t kMaxTaskPath = 256;
TaskPath task_path(const WaitGraph& graph, std::uint32_t thread);

// What a thread waits for, by the nodes between it and the thread `owner` (kNone: none): "waits for
// Orders.Client.FetchAsync(), which is done; its continuation waits for that very thread". `nodes`: not empty.
std::string path_words(const WaitGraph& graph, std::uint32_t thread, std::span<const std::uint32_t> nodes,
                       std::uint32_t owner);

// What the thread at the end of a path does for the last node of it: "runs Orders.Work()", "serves
// System.Windows.Forms.WindowsFormsSynchronizationContext".
std::string runner_words(const WaitGraph& graph, std::uint32_t node);

// A sentence for each async method among the nodes, which says what it awaits, and where: "Orders.Client.LoadAsync()
// awaits Orders.Client.FetchAsync() (Client.cs:42)."; and one for each context. At most kShownSteps, and then "…" if
// there are more.
inline constexpr std::size_t kShownSteps = 8;
std::vector<std::string> step_words(const WaitGraph& graph, std::span<const std::uint32_t> nodes);

// A number for the tasks of a path, by which paths of two dumps are compared: equal for equal methods at equal awaits.
// It has no addresses, because objects move in a garbage collection. Not 0.
std::uint64_t path_number(const WaitGraph& graph, const TaskPath& path);

}  // namespace mixwalk
