#include "walker/hang/task_words.h"

#include <algorithm>
#include <unordered_set>

#include "symbols/demangle/managed_name.h"
#include "walker/base/count_words.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/model/lock_words.h"
#include "walker/model/task_types.h"

namespace mixwalk {
namespace {

// So many tasks in a row are all named.
constexpr std::size_t kNamedTasks = 3;

std::string with_type(std::string text, std::string_view type) {
  return type.empty() ? text : text + " (" + clipped(type) + ")";
}

std::string_view end_words(TaskStatus status) {
  if (status == TaskStatus::faulted) return "has failed";
  return status == TaskStatus::cancelled ? "is cancelled" : "is done";
}

// "Client.cs:42"; empty if the place of the await is not known.
std::string place_words(const AsyncTask& task) {
  if (task.file.empty()) return {};
  const std::string file = clipped(file_name(task.file));
  return task.line == 0 ? file : file + ":" + std::to_string(task.line);
}

class PathWords {
 public:
  PathWords(const WaitGraph& graph, std::uint32_t thread, std::span<const std::uint32_t> nodes, std::uint32_t owner)
      : graph_(graph), snapshot_(graph.snapshot()), thread_(thread), nodes_(nodes), owner_(owner) {}

  std::string text() {
    std::string text = "waits for ";
    for (std::size_t i = 0; i < nodes_.size();) {
      const WaitNode node = graph_.node(nodes_[i]);
      std::size_t next = i + 1;
      switch (node.kind) {
        case WaitNode::Kind::thread: break;
        case WaitNode::Kind::lock: text += lock_clause(snapshot_.locks[node.index], next); break;
        case WaitNode::Kind::task: text += task_clause(snapshot_.tasks[node.index], i, next); break;
        case WaitNode::Kind::context: text += context_clause(snapshot_.contexts[node.index]); break;
        case WaitNode::Kind::pool: text += "the thread pool"; break;
      }
      i = next;
    }
    return text;
  }

 private:
  std::string owner_text() const {
    return owner_ == thread_ ? "that very thread" : thread_words(snapshot_.threads[owner_]);
  }
  bool is(std::size_t i, WaitNode::Kind kind) const {
    return i < nodes_.size() && graph_.node(nodes_[i]).kind == kind;
  }

  std::string lock_clause(const Lock& lock, std::size_t next) const {
    const std::string words = lock_words(lock);
    if (next < nodes_.size()) return words + std::string(owner_words(lock.kind));
    if (owner_ != WaitGraph::kNone) return words + std::string(owner_words(lock.kind)) + owner_text();
    const std::string holder = known_holder(lock);
    if (!holder.empty()) return words + std::string(owner_words(lock.kind)) + holder;
    return lock.is_free() ? words : words + ", whose holder is not known";
  }

  // One of several that have entered a semaphore: "Orders.Client.FetchAsync() and 1 more". Empty if none is known.
  std::string known_holder(const Lock& lock) const {
    const std::size_t known = lock.sharers.size() + lock.task_holders.size();
    std::string text;
    if (!lock.task_holders.empty() && lock.task_holders.front() < snapshot_.tasks.size()) {
      text = task_words(snapshot_.tasks[lock.task_holders.front()]);
    } else if (!lock.sharers.empty()) {
      const std::uint32_t thread = graph_.thread_of(lock.sharers.front());
      if (thread == WaitGraph::kNone) return {};
      text = thread == thread_ ? "that very thread" : thread_words(snapshot_.threads[thread]);
    }
    return text.empty() || known == 1 ? text : text + " and " + std::to_string(known - 1) + " more";
  }

  std::string context_clause(const AsyncContext& context) const {
    if (owner_ != WaitGraph::kNone) return owner_text();
    if (context.address == 0) return "a queue that is not known";
    return with_type("a context", context.type) + ", whose thread is not known";
  }

  std::string task_clause(const AsyncTask& task, std::size_t i, std::size_t& next) const {
    // The lock says more than the task of a thing that waits for it.
    if (task.method.empty() && task.kind == TaskKind::semaphore && is(next, WaitNode::Kind::lock)) return {};
    std::string text = task_words(task);
    if (next == nodes_.size()) return text + last_clause(task);
    if (is(next, WaitNode::Kind::context) || is(next, WaitNode::Kind::pool)) {
      if (has_ended(task.status)) {
        return text + ", which " + std::string(end_words(task.status)) + "; its continuation waits for ";
      }
      if (task.status == TaskStatus::queued) return text + ", which is queued and waits for ";
      if (task.kind == TaskKind::delay) return text + ", which waits for ";
      return text + ", whose continuation needs ";
    }
    // Of many tasks in a row, the first and the last say the most.
    std::size_t last = i;
    while (is(last + 1, WaitNode::Kind::task)) ++last;
    if (last < i + kNamedTasks) return text + ", which waits for ";
    next = last;
    return text + ", which waits through " + count_words(last - i - 1, "more task") + " for ";
  }

  std::string last_clause(const AsyncTask& task) const {
    if (has_ended(task.status)) {
      const std::string ended = ", which " + std::string(end_words(task.status));
      return task.not_resumed ? ended + "; its continuation has not run" : ended;
    }
    if (task.status == TaskStatus::queued) return ", which is queued";
    if (task.status != TaskStatus::running) return {};
    return owner_ == WaitGraph::kNone ? ", which runs" : ", which runs on " + owner_text();
  }

  const WaitGraph& graph_;
  const Snapshot& snapshot_;
  const std::uint32_t thread_;
  const std::span<const std::uint32_t> nodes_;
  const std::uint32_t owner_;
};

// What the node with this index awaits, or whose context it is; empty if there is nothing to say.
std::string step(const WaitGraph& graph, std::span<const std::uint32_t> nodes, std::size_t i) {
  const Snapshot& snapshot = graph.snapshot();
  const WaitNode node = graph.node(nodes[i]);
  if (node.kind == WaitNode::Kind::context) {
    const AsyncContext& context = snapshot.contexts[node.index];
    if (context.type.empty()) return {};
    const std::string text = "The continuation belongs to " + clipped(context.type);
    return context.thread == 0 ? text + "." : text + ", which thread " + hex(context.thread) + " serves.";
  }
  if (node.kind != WaitNode::Kind::task || i + 1 == nodes.size()) return {};
  const AsyncTask& task = snapshot.tasks[node.index];
  if (task.kind != TaskKind::async_method || task.method.empty() || task.status != TaskStatus::waiting) return {};
  const std::string place = place_words(task);
  const std::string text = clipped(managed_name(task.method)) + (place.empty() ? "" : " (" + place + ")") + " awaits ";
  const WaitNode next = graph.node(nodes[i + 1]);
  if (next.kind == WaitNode::Kind::task) return text + task_words(snapshot.tasks[next.index]) + ".";
  if (next.kind == WaitNode::Kind::lock) return text + lock_words(snapshot.locks[next.index]) + ".";
  return place.empty() ? std::string() : text + "a task.";
}

// FNV-1a.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    add_byte(0xFF);
  }
  void add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) add_byte(static_cast<unsigned char>(number >> (8 * i)));
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100'0000'01b3; }

  std::uint64_t value_ = 0xcbf2'9ce4'8422'2325;
};

}  // namespace

std::string task_words(const AsyncTask& task) {
  if (!task.method.empty()) return clipped(managed_name(task.method));
  switch (task.kind) {
    case TaskKind::delay:
      if (task.due_ms < 0) return "a timer";
      if (task.due_ms == 0) return "a timer that is due";
      return "a timer that ends in " + time_words(static_cast<std::uint64_t>(task.due_ms));
    case TaskKind::semaphore: return task.object == 0 ? "a semaphore" : "the semaphore " + hex(task.object);
    case TaskKind::channel: return with_type("a channel", task.object_type);
    case TaskKind::when_all:
      if (is_unwrap(task)) return "the task of Task.Run";
      return "all of " + count_words(task.awaits.size() + task.awaits_left_out, "task") + " (Task.WhenAll)";
    case TaskKind::when_any:
      if (is_wait_async(task)) return "a task or its cancellation (Task.WaitAsync)";
      return "one of " + count_words(task.awaits.size() + task.awaits_left_out, "task") + " (Task.WhenAny)";
    case TaskKind::completion_source:
      // A thread runs such a task only if it is in the callback of the timer.
      return task.status == TaskStatus::running ? "the end of a timer's callback (Timer.DisposeAsync)"
                                                : "a TaskCompletionSource";
    case TaskKind::io: return with_type("input or output", task.object_type);
    case TaskKind::value_source: return with_type("an awaited object", task.type);
    case TaskKind::other:
    case TaskKind::async_method:
    case TaskKind::delegate: break;
  }
  return with_type("a task", task.type);
}

TaskPath task_path(const WaitGraph& graph, std::uint32_t thread) {
  TaskPath path;
  const std::span<const std::uint32_t> needs = graph.needs(thread);
  const auto task = std::ranges::find_if(
      needs, [&](std::uint32_t need) { return graph.node(need).kind == WaitNode::Kind::task; });
  if (task == needs.end()) return path;
  std::unordered_set<std::uint32_t> seen;
  for (std::uint32_t at = *task; path.nodes.size() < kMaxTaskPath && seen.insert(at).second;) {
    if (graph.is_thread(at)) {
      path.owner = at;
      break;
    }
    path.nodes.push_back(at);
    // What a pool, Task.WhenAny or a semaphore with several holders waits for is not one thing.
    const bool parts = graph.needs_one(at);
    if (graph.needs(at).empty() || (parts && (graph.needs(at).size() > 1 || graph.way_out(at) != WayOut::none))) break;
    at = graph.needs(at).front();
  }
  return path;
}

std::string path_words(const WaitGraph& graph, std::uint32_t thread, std::span<const std::uint32_t> nodes,
                       std::uint32_t owner) {
  return PathWords(graph, thread, nodes, owner).text();
}

std::string runner_words(const WaitGraph& graph, std::uint32_t node) {
  const WaitNode last = graph.node(node);
  const Snapshot& snapshot = graph.snapshot();
  switch (last.kind) {
    case WaitNode::Kind::task: return "runs " + task_words(snapshot.tasks[last.index]);
    case WaitNode::Kind::context: {
      const std::string& type = snapshot.contexts[last.index].type;
      return "serves " + (type.empty() ? "the context of a continuation" : clipped(type));
    }
    case WaitNode::Kind::lock: {
      const Lock& lock = snapshot.locks[last.index];
      return holder_text(lock.kind, lock_words(lock));
    }
    case WaitNode::Kind::thread:
    case WaitNode::Kind::pool: break;
  }
  return "is a worker of the thread pool";
}

std::vector<std::string> step_words(const WaitGraph& graph, std::span<const std::uint32_t> nodes) {
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::string text = step(graph, nodes, i);
    if (text.empty()) continue;
    if (steps.size() == kShownSteps) {
      steps.emplace_back("…");
      break;
    }
    steps.push_back(std::move(text));
  }
  return steps;
}

std::uint64_t path_number(const WaitGraph& graph, const TaskPath& path) {
  Hash hash;
  for (const std::uint32_t number : path.nodes) {
    const WaitNode node = graph.node(number);
    hash.add(static_cast<std::uint64_t>(node.kind));
    if (node.kind != WaitNode::Kind::task) continue;
    const AsyncTask& task = graph.snapshot().tasks[node.index];
    hash.add(static_cast<std::uint64_t>(task.kind));
    hash.add(static_cast<std::uint64_t>(task.status));
    hash.add(task.method.empty() ? task.type : task.method);
    hash.add(static_cast<std::uint64_t>(task.await_number));
  }
  return hash.value() == 0 ? 1 : hash.value();
}

}  // namespace mixwalk
