#include "walker/clr/tasks/task_stacks.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "unmanaged/home_space.h"
#include "walker/clr/old_copies.h"
#include "walker/clr/tasks/state_machine_name.h"
#include "walker/clr/tasks/task_reader.h"

namespace mixwalk {
namespace {

// How many frames from the leaf on the wait for a task may be. These are the frames of the wait, including those of the
// runtime, the system and a SynchronizationContext that waits itself.
constexpr std::size_t kMaxWaitFrames = 100;
// How many frames of .NET are between the code of a method and the code that goes on with it.
constexpr std::size_t kFramesOfMachine = 5, kFramesOfDelegate = 2;

constexpr std::string_view kEventWait = "System.Threading.ManualResetEventSlim.Wait(";
constexpr std::string_view kTaskCode = "System.Threading.Tasks.Task";
constexpr std::string_view kMoveNext = ".MoveNext()";
constexpr std::string_view kSetAtEnd = "System.Threading.Tasks.Task+SetOnInvokeMres",
                           kCountsEnds = "System.Threading.Tasks.Task+SetOnCountdownMres";

// A part of a stack, as indices of frames: from `begin` to before `end`.
struct Frames {
  std::size_t begin = 0, end = 0;
};

bool is_task_code(const Frame& frame) {
  return frame.kind == FrameKind::managed && frame.name.starts_with(kTaskCode);
}

// The frames of a wait for a task; nothing if there is none.
std::optional<Frames> wait_of(const Thread& thread) {
  const std::vector<StackFrame>& frames = thread.stack.frames;
  for (std::size_t i = 0; i < frames.size() && i < kMaxWaitFrames; ++i) {
    if (frames[i].kind == FrameKind::gap) return std::nullopt;
    if (frames[i].kind != FrameKind::managed || !frames[i].name.starts_with(kEventWait)) continue;
    std::size_t end = i + 1;
    while (end < frames.size() && is_task_code(frames[end])) ++end;
    return end > i + 1 ? std::optional(Frames{0, end}) : std::nullopt;
  }
  return std::nullopt;
}

// The type of the state machine whose code a frame runs; empty if it is none.
std::string_view machine_in(const Frame& frame) {
  if (frame.kind != FrameKind::managed || !frame.name.ends_with(kMoveNext)) return {};
  const std::string_view type = std::string_view(frame.name).substr(0, frame.name.size() - kMoveNext.size());
  return is_state_machine(type) ? type : std::string_view();
}

bool runs_delegate(const Frame& frame) {
  return is_task_code(frame) && (frame.name.find(".ExecuteWithThreadLocal(") != std::string::npos ||
                                 frame.name.find(".InnerInvoke(") != std::string::npos);
}

// Whether the frame is that of a timer that runs its callback.
bool runs_timer(const Frame& frame) {
  return frame.kind == FrameKind::managed && frame.name.starts_with("System.Threading.TimerQueueTimer.");
}
constexpr std::size_t kFramesOfTimer = 3;

std::optional<std::uint64_t> end_of(const Thread& thread, std::size_t frame) {
  const std::vector<StackFrame>& frames = thread.stack.frames;
  if (frames.empty()) return std::nullopt;
  const std::uint64_t at = frames[std::min(frame, frames.size() - 1)].stack_pointer;
  return at != 0 ? std::optional(at + kHomeBytes) : std::nullopt;
}

class StackSearch {
 public:
  StackSearch(ManagedObjects& objects, const TaskStack& stack, TasksOfThreads& found)
      : objects_(objects), stack_(stack), thread_(*stack.thread), found_(found) {}

  void search() {
    if (const auto wait = wait_of(thread_)) find_waited_for(objects_in(*wait, true));
    const std::vector<StackFrame>& frames = thread_.stack.frames;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (const std::string_view machine = machine_in(frames[i]); !machine.empty()) {
        find_machine(machine, objects_in({i, i + kFramesOfMachine}, false));
      } else if (runs_delegate(frames[i])) {
        find_delegate(objects_in({i, i + kFramesOfDelegate}, false));
      } else if (runs_timer(frames[i])) {
        // The callback may have saved the register with the timer.
        find_timer(objects_in({i == 0 ? 0 : i - 1, i + kFramesOfTimer}, false));
      }
    }
  }

 private:
  // The objects to which the words of these frames lead, each once.
  std::vector<std::uint64_t> objects_in(const Frames& frames, bool with_registers) {
    std::set<std::uint64_t> words;
    if (with_registers) words.insert(stack_.registers.begin(), stack_.registers.end());
    const std::uint64_t first = thread_.stack.frames.front().stack_pointer;
    const std::uint64_t begin = thread_.stack.frames[frames.begin].stack_pointer;
    const auto end = end_of(thread_, frames.end);
    if (begin < first || !end) return {};
    for (std::uint64_t at = begin; at < *end && (at - first) / 8 < stack_.words.size(); at += 8) {
      words.insert(stack_.words[static_cast<std::size_t>((at - first) / 8)]);
    }
    std::vector<std::uint64_t> objects(words.begin(), words.end());
    objects_.expect(objects);
    std::erase_if(objects, [&](std::uint64_t object) { return objects_.type_of(object) == nullptr; });
    return objects;
  }

  bool is_told_by(std::uint64_t task, const std::vector<std::uint64_t>& events) {
    bool told = false;
    visit_continuations(objects_, task, *objects_.type_of(task), [&](std::uint64_t continuation) {
      told = told || std::ranges::find(events, continuation) != events.end();
    });
    return told;
  }

  void find_waited_for(const std::vector<std::uint64_t>& objects) {
    std::vector<std::uint64_t> events, counters, tasks;
    for (const std::uint64_t object : objects) {
      const ManagedType& type = *objects_.type_of(object);
      if (type.is(kSetAtEnd)) events.push_back(object);
      if (type.is(kCountsEnds)) counters.push_back(object);
    }
    for (const std::uint64_t object : objects) {
      if (objects_.type_of(object)->task && is_told_by(object, events)) tasks.push_back(object);
    }
    leave_out_old_copies(tasks);
    if (tasks.size() == 1) {
      found_.waited_for.push_back({thread_.os_id, tasks.front()});
    } else if (tasks.empty()) {
      find_waited_for_all(objects, counters);
    }
  }

  void find_waited_for_all(const std::vector<std::uint64_t>& objects, std::vector<std::uint64_t> counters) {
    leave_out_old_copies(counters);
    if (counters.size() != 1) return;
    std::vector<std::uint64_t> tasks;
    for (const std::uint64_t list : objects) {
      for (const std::uint64_t object : objects_.references_of(list, kMaxAwaits).objects) {
        const ManagedType* const type = objects_.type_of(object);
        if (type != nullptr && type->task && is_told_by(object, counters)) tasks.push_back(object);
      }
    }
    std::ranges::sort(tasks);
    tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
    if (!tasks.empty()) found_.waited_for_all.push_back({thread_.os_id, counters.front(), std::move(tasks)});
  }

  void leave_out_old_copies(std::vector<std::uint64_t>& objects) {
    if (objects.size() < 2) return;
    for (const std::uint64_t copy : old_copies(objects_.clr(), objects)) std::erase(objects, copy);
  }

  void find_machine(std::string_view machine, const std::vector<std::uint64_t>& objects) {
    std::vector<std::uint64_t> boxes;
    for (const std::uint64_t object : objects) {
      const std::string type = machine_type_of(objects_, object);
      if (is_same_machine(type, machine)) boxes.push_back(object);
    }
    // A machine that is an object of its own is on the stack beside its box.
    if (boxes.size() > 1) std::erase_if(boxes, [&](std::uint64_t box) { return !objects_.type_of(box)->task; });
    // What goes on within the end of another task is called by that one, whose box is there as well. Real case: methods
    // that await themselves, and are gone on with one within the other.
    if (boxes.size() > 1) {
      std::erase_if(boxes, [&](std::uint64_t box) {
        const auto flags = objects_.value<std::uint32_t>(box, *objects_.type_of(box), "m_stateFlags").value_or(0);
        return (flags & kTaskEnded) != 0;
      });
    }
    if (boxes.size() == 1) found_.running.push_back({thread_.os_id, boxes.front()});
  }

  void find_delegate(const std::vector<std::uint64_t>& objects) {
    for (const std::uint64_t object : objects) {
      const ManagedType& type = *objects_.type_of(object);
      if (!type.task || objects_.reference(object, type, "m_action") == 0) continue;
      if (type.field("StateMachine") != nullptr) continue;
      const auto flags = objects_.value<std::uint32_t>(object, type, "m_stateFlags").value_or(0);
      if ((flags & kTaskBegun) != 0 && (flags & kTaskEnded) == 0) found_.running.push_back({thread_.os_id, object});
    }
  }

  // Timer.DisposeAsync gives the timer a task that ends when no callback of the timer runs any more. TimerQueueTimer of
  // .NET 8 to 10 (public). Real case: a callback that waits for this task.
  void find_timer(const std::vector<std::uint64_t>& objects) {
    for (const std::uint64_t object : objects) {
      const ManagedType& type = *objects_.type_of(object);
      if (!type.is("System.Threading.TimerQueueTimer")) continue;
      const auto running = objects_.value<std::int32_t>(object, type, "_callbacksRunning").value_or(0);
      const std::uint64_t task = objects_.reference(object, type, "_notifyWhenNoCallbacksRunning");
      const ManagedType* const of = objects_.type_of(task);
      const TaskOfThread found{thread_.os_id, task};
      const bool known = std::ranges::find(found_.running, found) != found_.running.end();
      if (running > 0 && of != nullptr && of->task && !known) found_.running.push_back(found);
    }
  }

  ManagedObjects& objects_;
  const TaskStack& stack_;
  const Thread& thread_;
  TasksOfThreads& found_;
};

}  // namespace

bool waits_for_task(const Thread& thread) { return wait_of(thread).has_value(); }

std::optional<std::uint64_t> task_stack_end(const Thread& thread) {
  const std::vector<StackFrame>& frames = thread.stack.frames;
  std::size_t end = 0;
  if (const auto wait = wait_of(thread)) end = wait->end;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!machine_in(frames[i]).empty()) end = std::max(end, i + kFramesOfMachine);
    if (runs_delegate(frames[i])) end = std::max(end, i + kFramesOfDelegate);
    if (runs_timer(frames[i])) end = std::max(end, i + kFramesOfTimer);
  }
  return end != 0 ? end_of(thread, end) : std::nullopt;
}

TasksOfThreads tasks_of_threads(ManagedObjects& objects, std::span<const TaskStack> stacks) {
  TasksOfThreads found;
  for (const TaskStack& stack : stacks) {
    if (!stack.thread->stack.frames.empty()) StackSearch(objects, stack, found).search();
  }
  // One thread runs a task. If its object is on the stacks of two, one of them has only an old word.
  std::unordered_map<std::uint64_t, std::set<std::uint32_t>> threads;
  for (const TaskOfThread& of : found.running) threads[of.task].insert(of.os_id);
  std::erase_if(found.running, [&](const TaskOfThread& of) { return threads[of.task].size() > 1; });
  return found;
}

}  // namespace mixwalk
