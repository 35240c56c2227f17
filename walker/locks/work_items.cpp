#include "walker/locks/work_items.h"

#include <utility>
#include <vector>

#include "walker/clr/tasks/delegates.h"
#include "walker/clr/tasks/state_machine_name.h"
#include "walker/clr/tasks/task_reader.h"

namespace mixwalk {
namespace {

// A work item leads to a task, that to a delegate, and that to an async method.
constexpr int kMaxDepth = 4;
// The fields that lead from a work item to what it runs.
constexpr std::string_view kRuns[] = {"m_action", "_callback", "_timerCallback", "m_task"};

}  // namespace

WorkItems::WorkItems(ObjectPaths& objects, const Snapshot& snapshot) : objects_(objects), snapshot_(snapshot) {
  for (std::uint32_t i = 0; i < snapshot.tasks.size(); ++i) tasks_.emplace(snapshot.tasks[i].address, i);
}

WorkItem WorkItems::of(std::uint64_t item) {
  const auto task = tasks_.find(item);
  WorkItem found;
  if (task != tasks_.end()) found = {snapshot_.tasks[task->second].method, task->second};
  if (found.method.empty()) found.method = method_of(item, 0);
  if (found.method.empty()) found.method = objects_.type_name(item);
  return found;
}

void WorkItems::add_objects(std::uint64_t item, std::unordered_set<std::uint64_t>& found) {
  constexpr std::string_view kLeads[] = {"m_action", "_callback", "_state",      "m_stateObject",
                                         "m_task",   "_target",   "StateMachine"};
  std::vector<std::uint64_t> now{item};
  for (int depth = 0; depth <= kMaxDepth && !now.empty(); ++depth) {
    std::vector<std::uint64_t> next;
    for (const std::uint64_t object : now) {
      if (objects_.type_name(object).empty() || !found.insert(object).second) continue;
      for (const std::string_view field : kLeads) {
        // The machine may be a value, which is no object.
        if (const std::uint64_t at = objects_.reference(object, {field}); at != 0)
          next.push_back(at);
      }
    }
    now = std::move(next);
  }
}

std::string WorkItems::method_of(std::uint64_t object, int depth) {
  ManagedObjects& objects = objects_.objects();
  if (object == 0 || depth == kMaxDepth || objects.type_of(object) == nullptr) return {};
  for (const std::uint64_t at : {object, target_of_delegate(objects, object)}) {
    const std::string machine = at != 0 ? machine_type_of(objects, at) : std::string();
    if (!machine.empty()) return method_of_state_machine(machine);
  }
  if (objects_.is_a(object, "System.Delegate")) return method_of_delegate(objects, object);
  for (const std::string_view field : kRuns) {
    std::string method = method_of(objects_.reference(object, {field}), depth + 1);
    if (!method.empty()) return method;
  }
  return {};
}

}  // namespace mixwalk
