#include "walker/locks/target_tasks.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "walker/clr/tasks/task_stacks.h"
#include "walker/locks/waiting_threads.h"

namespace mixwalk {
namespace {

// How many threads are captured again, and how much of each stack is looked at.
constexpr std::size_t kMaxTaskThreads = 1000;
constexpr std::uint64_t kMaxTaskBytes = 256 << 10;

constexpr char kTooManyThreads[] = "too many threads wait for tasks or run them";

class TaskSearch {
 public:
  TaskSearch(Snapshot& snapshot, Target& target, ClrQuestions& clr, const TaskLimits& limits)
      : snapshot_(snapshot), target_(target), clr_(clr), waiting_(target), limits_(limits),
        end_(std::chrono::steady_clock::now() + limits.time) {}

  void add() {
    forget_what_was_read(target_, clr_);
    const std::vector<TaskStack> stacks = capture();
    const bool live = forget_what_was_read(target_, clr_);
    FoundTasks found = read(stacks);
    if (live) {
      forget_what_was_read(target_, clr_);
      found = consistent_tasks(found, read(stacks));
    }
    std::set<std::uint32_t> moved;
    for (const TaskStack& stack : stacks) {
      // The thread is in the same wait, and runs the same task, as long as nothing has changed there.
      if (live && capture(*stack.thread) != stack) {
        moved.insert(stack.thread->os_id);
        continue;
      }
      const auto waits = found.waited_for.find(stack.thread->os_id);
      if (waits != found.waited_for.end()) thread_of(stack).waits_for_task = waits->second;
    }
    for (AsyncTask& task : found.tasks) {
      if (!moved.contains(task.thread)) continue;
      task.thread = 0;
      if (task.status == TaskStatus::running) task.status = TaskStatus::waiting;
    }
    for (AsyncTask& task : found.tasks) {
      std::int32_t& assembly = task.il.assembly;
      if (assembly < 0) continue;
      assembly = place_of(found.assemblies[static_cast<std::size_t>(assembly)], snapshot_.assemblies);
    }
    snapshot_.tasks = std::move(found.tasks);
    snapshot_.contexts = std::move(found.contexts);
    snapshot_.tasks_missing = !clr_.obstacle().empty() ? clr_.obstacle() : std::move(found.missing);
    if (cut_ && snapshot_.tasks_missing.empty()) snapshot_.tasks_missing = kTooManyThreads;
  }

 private:
  std::vector<TaskStack> capture() {
    std::vector<TaskStack> stacks;
    // Threads that wait come first, if there are too many.
    for (const bool wait : {true, false}) {
      for (const Thread& thread : snapshot_.threads) {
        if (waits_for_task(thread) != wait || !task_stack_end(thread)) continue;
        if (stacks.size() == kMaxTaskThreads || std::chrono::steady_clock::now() >= end_) {
          cut_ = true;
          return stacks;
        }
        if (TaskStack stack = capture(thread); !stack.words.empty()) stacks.push_back(std::move(stack));
      }
    }
    return stacks;
  }

  TaskStack capture(const Thread& thread) {
    std::vector<std::uint64_t> words = waiting_.words_of(thread, *task_stack_end(thread), kMaxTaskBytes);
    TaskStack stack{.thread = &thread, .registers = {}, .words = {}};
    if (words.size() <= WaitingThreads::kRegisters) return stack;
    const auto first = words.begin() + WaitingThreads::kRegisters;
    stack.registers.assign(words.begin(), first);
    stack.words.assign(first, words.end());
    return stack;
  }

  FoundTasks read(const std::vector<TaskStack>& stacks) {
    ManagedObjects objects(target_.memory(), clr_);
    return find_tasks(objects, tasks_of_threads(objects, stacks), limits_);
  }

  Thread& thread_of(const TaskStack& stack) {
    return snapshot_.threads[static_cast<std::size_t>(stack.thread - snapshot_.threads.data())];
  }

  Snapshot& snapshot_;
  Target& target_;
  ClrQuestions& clr_;
  WaitingThreads waiting_;
  const TaskLimits limits_;
  const std::chrono::steady_clock::time_point end_;
  bool cut_ = false;
};

}  // namespace

bool has_task_waits(const Snapshot& snapshot) { return std::ranges::any_of(snapshot.threads, waits_for_task); }

void add_tasks(Snapshot& snapshot, Target& target, ClrQuestions& clr, const TaskLimits& limits) {
  if (limits.heap || has_task_waits(snapshot)) TaskSearch(snapshot, target, clr, limits).add();
}

}  // namespace mixwalk
