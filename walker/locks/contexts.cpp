#include "walker/locks/contexts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "unmanaged/home_space.h"
#include "walker/locks/object_paths.h"
#include "walker/locks/stack_words.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxContexts = 64, kMaxKnownThreads = 2'000;
constexpr std::size_t kMaxHeld = 64;  // the objects to which a context refers
constexpr std::size_t kMaxContextBases = 16;

constexpr std::string_view kContext = "System.Threading.SynchronizationContext",
                           kScheduler = "System.Threading.Tasks.TaskScheduler";
// Objects that belong to no context.
constexpr std::string_view kEnds[] = {"System.Threading.Tasks.Task",
                                      "System.Threading.Thread",
                                      "System.Threading.ExecutionContext",
                                      "System.Threading.ThreadPoolWorkQueue",
                                      "System.Threading.TimerQueue",
                                      "System.Type",
                                      "System.String",
                                      "System.Reflection.MemberInfo"};
// By these methods all threads use a context or a scheduler; the rest of the type belongs to the thread that serves it.
constexpr std::string_view kUses[] = {"Post",
                                      "Send",
                                      "Wait",
                                      "WaitHelper",
                                      "OperationStarted",
                                      "OperationCompleted",
                                      "CreateCopy",
                                      "QueueTask",
                                      "TryDequeue",
                                      "TryExecuteTaskInline",
                                      "GetScheduledTasks"};

// What a context calls that lets other threads run what is posted to it: "….Post" is that of
// another context. Names of methods begin like this.
constexpr std::string_view kHandsOn[] = {"System.Threading.ThreadPool.",
                                         "System.Threading.SynchronizationContext.Post",
                                         "System.Threading.SynchronizationContext.Send",
                                         "System.Threading.Tasks.Task.Run",
                                         "System.Threading.Tasks.Task.Start",
                                         "System.Threading.Tasks.Task.ContinueWith",
                                         "System.Threading.Tasks.TaskFactory.StartNew",
                                         "System.Threading.Thread.Start",
                                         "System.Threading.Thread.UnsafeStart",
                                         "System.Threading.Timer."};
// ConcurrentExclusiveSchedulerPair.cs of .NET 8 to 10 (public): the type of its two schedulers, the method in which one
// thread runs the tasks of the exclusive one, and the count of threads that says so.
constexpr std::string_view kOfPair = "System.Threading.Tasks.ConcurrentExclusiveSchedulerPair"
                                     "+ConcurrentExclusiveTaskScheduler";
constexpr std::string_view kRunsExclusive = "System.Threading.Tasks.ConcurrentExclusiveSchedulerPair"
                                            ".ProcessExclusiveTasks(";
constexpr std::int32_t kExclusive = -1;
constexpr std::size_t kMaxContextMethods = 32;  // of a context, whose code is looked at

std::string_view without_arguments(std::string_view type) { return type.substr(0, type.find('<')); }

// Whether the method is one of the type, of a type in it, or of a lambda of either.
bool is_part_of(std::string_view frame, std::string_view type) {
  return !type.empty() && frame.starts_with(type) && frame.size() > type.size() &&
         (frame[type.size()] == '.' || frame[type.size()] == '+' || frame[type.size()] == '<');
}

class ContextSearch {
 public:
  ContextSearch(Snapshot& snapshot, const Target& target, ClrQuestions& clr)
      : snapshot_(snapshot), clr_(clr), objects_(target.memory(), clr), stacks_(target) {
    std::map<std::uint32_t, const Thread*> walked;
    for (const Thread& thread : snapshot.threads) walked.emplace(thread.os_id, &thread);
    for (const ClrThread& thread : clr.threads()) {
      if (thread.os_id == 0 || thread.object == 0 || threads_.size() == kMaxKnownThreads) continue;
      const auto found = walked.find(thread.os_id);
      if (found == walked.end()) continue;
      threads_.push_back({.thread = found->second,
                          .object = thread.object,
                          .current = objects_.reference(thread.object, {"_synchronizationContext"}),
                          .pool = (thread.state & ClrThread::kPoolWorker) != 0});
    }
  }

  void find() {
    for (const AsyncTask& task : snapshot_.tasks) {
      if (task.status == TaskStatus::queued && task.object != 0) with_queue_.insert(task.object);
      if (!has_ended(task.status) || task.continues_on >= snapshot_.contexts.size()) continue;
      with_queue_.insert(snapshot_.contexts[task.continues_on].address);
    }
    for (std::size_t i = 0; i < snapshot_.contexts.size() && i < kMaxContexts; ++i) {
      AsyncContext& context = snapshot_.contexts[i];
      context.thread = server_of(context.address);
    }
  }

 private:
  struct RuntimeThread {
    const Thread* thread = nullptr;
    std::uint64_t object = 0;
    std::uint64_t current = 0;  // its SynchronizationContext; 0 if none
    bool pool = false;
  };

  bool is_end(std::uint64_t object) {
    return std::ranges::any_of(kEnds, [&](std::string_view type) { return objects_.is_a(object, type); });
  }

  std::uint32_t thread_of(std::uint64_t object) const {
    const auto found = std::ranges::find(threads_, object, &RuntimeThread::object);
    return object == 0 || found == threads_.end() ? 0 : found->thread->os_id;
  }

  std::uint32_t server_of(std::uint64_t context) {
    bool has_queue = with_queue_.contains(context);
    if (objects_.is_a(context, "System.Threading.Tasks.SynchronizationContextTaskScheduler")) {
      // The scheduler posts its tasks to the context.
      context = objects_.reference(context, {"m_synchronizationContext"});
      has_queue = has_queue || with_queue_.contains(context);
    }
    if (objects_.is_a(context, "System.Windows.Forms.WindowsFormsSynchronizationContext")) return forms_thread(context);
    if (objects_.is_a(context, "System.Windows.Threading.DispatcherSynchronizationContext")) {
      return thread_of(objects_.reference(objects_.reference(context, {"_dispatcher"}), {"_dispatcherThread"}));
    }
    // Folklore: what is posted to a context may run on any thread, such as one of the pool,
    // although a method of the context is on the stack of the thread that waits ("Run(action)").
    // Real cases: a context that only keeps the culture; the contexts of Blazor and of the old
    // ASP.NET, a scheduler with a thread for each task. Remedy: the context must have a queue in
    // which something waits, and its code must not give work to other threads. Test: Contexts.
    // The pair itself says that one thread runs its tasks.
    if (objects_.is_a(context, kOfPair)) return thread_of_pair(objects_.reference(context, {"m_pair"}));
    if (!has_queue) return 0;
    if (objects_.is_a(context, kScheduler)) {
      return hands_on(context, "QueueTask") ? 0 : thread_of_scheduler(context);
    }
    if (!objects_.is_a(context, kContext) || objects_.type_name(context) == kContext) return 0;
    return hands_on(context, "Post") ? 0 : thread_of_own(context);
  }

  // Whether a method of the context, or one of its type that it calls, gives work to other threads.
  bool hands_on(std::uint64_t context, std::string_view method) {
    std::uint64_t table = objects_.objects().method_table_of(context);
    const ManagedType* type = objects_.objects().type(table);
    std::vector<ClrIlStep> il;
    for (std::size_t i = 0; i < kMaxContextBases && type != nullptr; ++i) {
      il = clr_.il_of(table, method);
      if (!il.empty()) break;
      table = type->clr.parent;
      type = objects_.objects().type(table);
    }
    if (type == nullptr) return false;
    const std::string own = std::string(without_arguments(type->clr.name)) + '.';
    std::set<std::string> seen{std::string(method)};
    std::vector<std::string> open;
    while (true) {
      for (const ClrIlStep& step : il) {
        if (step.kind != ClrIlStep::Kind::call) continue;
        const auto begins = [&](std::string_view name) { return step.name.starts_with(name); };
        if (std::ranges::any_of(kHandsOn, begins)) return true;
        if (!begins(own) || seen.size() == kMaxContextMethods) continue;
        const std::string called = step.name.substr(own.size());
        if (seen.insert(called).second) open.push_back(called);
      }
      if (open.empty()) return false;
      il = clr_.il_of(table, open.back());
      open.pop_back();
    }
  }

  // A weak reference leads to its object through a handle, whose lowest bits are flags.
  std::uint32_t forms_thread(std::uint64_t context) {
    for (const std::string_view name : {"_destinationThread", "_destinationThreadRef", "destinationThreadRef"}) {
      const std::uint64_t weak = objects_.reference(context, {name});
      for (const std::string_view handle : {"_taggedHandle", "m_handle"}) {
        const auto at = weak == 0 ? std::nullopt : objects_.value<std::uint64_t>(weak, {handle});
        const auto object = at ? objects_.memory().read_value<std::uint64_t>(*at & ~7ull) : std::nullopt;
        if (object) return thread_of(*object);
      }
    }
    return 0;
  }

  // The types of which a method may be the context's loop, without type arguments: its own and its
  // base types, and those of the objects to which it refers, one of which may have the loop. The
  // types of .NET are no loop of a particular context.
  std::vector<std::string> loop_types(std::uint64_t context) {
    std::vector<std::string> types;
    const auto add_name = [&](std::string_view type) {
      const std::string_view name = without_arguments(type);
      if (!name.empty() && !name.starts_with("System.")) types.emplace_back(name);
    };
    const auto add = [&](std::uint64_t object) {
      const ManagedType* const type = objects_.objects().type_of(object);
      if (type == nullptr) return;
      add_name(type->clr.name);
      for (const std::string& base : type->bases) add_name(base);
    };
    add(context);
    for (const std::uint64_t object : held_by(context)) add(object);
    return types;
  }

  std::vector<std::uint64_t> held_by(std::uint64_t object) {
    std::vector<std::uint64_t> held = objects_.objects().words(object, kMaxHeld);
    objects_.objects().expect(held);
    std::erase_if(held, [&](std::uint64_t at) { return objects_.type_name(at).empty() || is_end(at); });
    return held;
  }

  static bool is_in_loop(const Thread& thread, const std::vector<std::string>& types) {
    return std::ranges::any_of(thread.stack.frames, [&](const StackFrame& frame) {
      return frame.kind == FrameKind::managed && std::ranges::any_of(types, [&](const std::string& type) {
               return is_loop_of(frame.name, type);
             });
    });
  }

  std::uint32_t thread_of_own(std::uint64_t context) {
    const std::vector<std::string> types = loop_types(context);
    std::vector<const RuntimeThread*> current, loops;
    bool doubtful = false;
    for (const RuntimeThread& thread : threads_) {
      if (thread.current == context) current.push_back(&thread);
      if (!is_in_loop(*thread.thread, types)) continue;
      if (thread.current == context) loops.push_back(&thread);
      // It may serve this context without having it as its current one.
      doubtful = doubtful || thread.current == 0;
    }
    if (doubtful || loops.size() > 1) return 0;
    if (loops.size() == 1) return loops.front()->thread->os_id;
    if (current.size() != 1) return 0;
    std::vector<std::uint64_t> parts = held_by(context);
    parts.push_back(context);
    for (const RuntimeThread& thread : threads_) {
      if (&thread == current.front()) continue;
      const std::vector<std::uint64_t> words = stacks_.of(*thread.thread);
      for (const std::uint64_t part : parts) {
        if (std::ranges::binary_search(words, part)) return 0;
      }
    }
    return current.front()->thread->os_id;
  }

  // Whether the thread is in ProcessExclusiveTasks of this pair. The method keeps the pair in its own part of the stack,
  // since it needs it to end.
  bool runs_exclusive_tasks_of(const Thread& thread, std::uint64_t pair) const {
    const std::vector<StackFrame>& frames = thread.stack.frames;
    for (std::size_t i = 0; i + 1 < frames.size(); ++i) {
      const StackFrame& frame = frames[i];
      const bool runs = frame.kind == FrameKind::managed && frame.name.starts_with(kRunsExclusive);
      const std::uint64_t end = frames[i + 1].stack_pointer;
      if (!runs || is_guess(frame.trust) || is_guess(frames[i + 1].trust) || end <= frame.stack_pointer) continue;
      if (std::ranges::binary_search(stacks_.of(thread, end + kHomeBytes, frame.stack_pointer), pair)) return true;
    }
    return false;
  }

  // As long as one thread runs tasks of the exclusive scheduler, no other thread runs tasks of the pair. The count says
  // so also as long as tasks are queued and no thread runs one yet.
  //
  // Folklore: a thread that runs tasks of one pair may have another pair on its stack, for whose tasks it waits. Case:
  // a task that starts one with the exclusive scheduler of another pair, and waits for it. While all workers were busy,
  // it was taken for the thread of that other pair. Test: SchedulerPair.IsNotServedByAThreadOfAnotherPair.
  std::uint32_t thread_of_pair(std::uint64_t pair) {
    if (pair == 0 || objects_.value<std::int32_t>(pair, {"m_processingCount"}) != kExclusive) return 0;
    std::uint32_t only = 0;
    for (const RuntimeThread& thread : threads_) {
      if (!runs_exclusive_tasks_of(*thread.thread, pair)) continue;
      if (only != 0) return 0;
      only = thread.thread->os_id;
    }
    return only;
  }

  // A pool may run the tasks of a scheduler on any of its threads. Another thread with code of the
  // scheduler may be one that waits for tasks. If a thread has several schedulers of the type on its stack, it is not
  // proven which of them it serves: it may wait for tasks of the others.
  std::uint32_t thread_of_scheduler(std::uint64_t scheduler) {
    const std::string type(without_arguments(objects_.type_name(scheduler)));
    std::uint32_t only = 0;
    for (const RuntimeThread& thread : threads_) {
      const std::vector<StackFrame>& frames = thread.thread->stack.frames;
      bool runs = false, knows = !frames.empty() && is_part_of(frames[0].name, type);
      for (std::size_t i = 1; i < frames.size(); ++i) {
        const std::string_view name = frames[i].name, called = frames[i - 1].name;
        if (!is_part_of(name, type)) continue;
        knows = true;
        // The JIT may have made one method of the first and of its caller.
        const bool executes =
            called.starts_with("System.Threading.Tasks.TaskScheduler.TryExecuteTask(") ||
            called.starts_with("System.Threading.Tasks.Task.ExecuteEntry(");
        runs = runs || (executes &&
                        (is_loop_of(name, type) || name.find(">b__") != std::string_view::npos));
      }
      if (!knows) continue;
      const std::vector<std::uint64_t> words = runs ? stacks_.of(*thread.thread) : std::vector<std::uint64_t>();
      const bool of_another = runs && !std::ranges::binary_search(words, scheduler);
      if (of_another) continue;
      if (!runs || only != 0 || thread.pool || has_other_of_type(words, scheduler)) return 0;
      only = thread.thread->os_id;
    }
    return only;
  }

  bool has_other_of_type(const std::vector<std::uint64_t>& words, std::uint64_t object) {
    objects_.objects().expect(words);
    const std::string_view type = objects_.type_name(object);
    return std::ranges::any_of(words, [&](std::uint64_t at) { return at != object && objects_.type_name(at) == type; });
  }

  Snapshot& snapshot_;
  ClrQuestions& clr_;
  ObjectPaths objects_;
  StackWords stacks_;
  std::vector<RuntimeThread> threads_;
  std::set<std::uint64_t> with_queue_;  // contexts whose own queue has continuations or tasks
};

}  // namespace

bool is_loop_of(std::string_view frame, std::string_view type) {
  if (type.empty() || !frame.starts_with(type)) return false;
  frame.remove_prefix(type.size());
  if (frame.starts_with('<')) {
    std::size_t at = 0;
    int depth = 0;
    do {
      depth += frame[at] == '<' ? 1 : frame[at] == '>' ? -1 : 0;
    } while (++at < frame.size() && depth > 0);
    frame.remove_prefix(at);
  }
  if (!frame.starts_with('.')) return false;
  const std::string_view method = frame.substr(1, frame.find_first_of("(<", 1) - 1);
  const bool simple = !method.empty() && method.find('.') == std::string_view::npos;  // no constructor, no nested type
  return simple && std::ranges::find(kUses, method) == std::end(kUses);
}

void add_context_threads(Snapshot& snapshot, const Target& target, ClrQuestions& clr) {
  if (!snapshot.contexts.empty()) ContextSearch(snapshot, target, clr).find();
}

}  // namespace mixwalk
