#include "walker/clr/tasks/posted.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string_view>

#include "walker/clr/tasks/delegates.h"
#include "walker/clr/tasks/task_reader.h"

namespace mixwalk {
namespace {

// How many objects are looked at for one context, and how many words of one object. The queues of Windows Forms and WPF
// are within some hundred objects.
constexpr std::size_t kMaxReached = 5000, kMaxWords = 4096;
constexpr std::size_t kMaxArguments = 16;  // words of an array with arguments

// An object through which the search does not go, since what it leads to is not in the queue of the context: the
// state of an async method keeps the delegate that makes it go on, wherever that was posted, and a thread or another
// context has its own queue.
bool leads_elsewhere(const ManagedType& type) {
  constexpr std::string_view kOthers[] = {"System.Threading.Thread", "System.Threading.ExecutionContext",
                                          "System.Threading.SynchronizationContext",
                                          "System.Threading.Tasks.TaskScheduler"};
  return type.field("StateMachine") != nullptr ||
         std::ranges::any_of(kOthers, [&](std::string_view other) { return type.is(other); });
}

// The words of an object through which the search goes.
std::vector<std::uint64_t> words_of(ManagedObjects& objects, std::uint64_t object, bool is_context) {
  const ManagedType* const type = objects.type_of(object);
  if (type == nullptr || (!is_context && leads_elsewhere(*type))) return {};
  return objects.words(object, kMaxWords);
}

// Whether .NET itself has posted this delegate, which goes on with the object beside it: YieldAwaiter, AsyncOperation
// (of channels), Pipe, and ManualResetValueTaskSourceCore (timers, sockets, iterators), which posts
// Action<object>.Invoke (public, .NET 8 to 10). `of_task`: under a TaskScheduler, they start a task with it.
bool is_post_of_dotnet(ManagedObjects& objects, std::uint64_t delegate, bool of_task) {
  constexpr std::string_view kPosted = "System.Threading.SendOrPostCallback", kStarted = "System.Action<System.Object>";
  const ManagedType* const type = objects.type_of(delegate);
  if (type == nullptr || type->clr.name != (of_task ? kStarted : kPosted)) return false;
  const ManagedType* const target = objects.type_of(target_of_delegate(objects, delegate));
  if (target == nullptr) return false;
  const std::string_view name = target->clr.name;
  if (name == "System.Action<System.Object>" || (name.starts_with("System.") && name.ends_with("+<>c"))) return true;
  // The delegate of a static method is its own target.
  return target == type && method_of_delegate(objects, delegate).starts_with("System.");
}

// Whether .NET posts the object in an object of this type: with the delegate that goes on with it.
bool is_parcel(std::string_view type) {
  return type.starts_with("System.Tuple<") || type.starts_with("System.ValueTuple<") ||
         type == "System.IO.Pipelines.CompletionData";
}

// Whether the object is a task of the context that has not begun: of this scheduler, or of one that posts its tasks to
// this SynchronizationContext. A list of the context may lead to tasks of other schedulers.
bool is_new_task(ManagedObjects& objects, std::uint64_t object, std::uint64_t context) {
  const ManagedType* const type = objects.type_of(object);
  if (type == nullptr || !type->task) return false;
  const auto flags = objects.value<std::uint32_t>(object, *type, "m_stateFlags");
  if (!flags || (*flags & (kTaskBegun | kTaskEnded)) != 0) return false;
  const std::uint64_t scheduler = objects.reference(object, *type, "m_taskScheduler");
  if (scheduler == context) return true;
  const ManagedType* const of = objects.type_of(scheduler);
  return of != nullptr && objects.reference(scheduler, *of, "m_synchronizationContext") == context;
}

// Adds what is beside such a delegate in an object, or in an array of arguments that is beside it (Windows Forms). The
// object may also be a task of the context that has not begun.
void add_beside(ManagedObjects& objects, std::uint64_t object, const std::vector<std::uint64_t>& words,
                const std::unordered_set<std::uint64_t>& beside, std::uint64_t context,
                std::unordered_map<std::uint64_t, std::uint64_t>& found) {
  const bool new_task = is_new_task(objects, object, context);
  const bool posts = std::ranges::any_of(words, [&](std::uint64_t word) {
    return is_post_of_dotnet(objects, word, false) || (new_task && is_post_of_dotnet(objects, word, true));
  });
  if (!posts) return;
  const auto add = [&](std::uint64_t word) {
    if (beside.contains(word)) found.try_emplace(word, context);
  };
  const auto add_all = [&](std::uint64_t word) {
    add(word);
    const ManagedType* const type = objects.type_of(word);
    if (type == nullptr || !is_parcel(type->clr.name)) return;
    for (const std::uint64_t inner : objects.words(word, kMaxArguments)) add(inner);
  };
  for (const std::uint64_t word : words) {
    add_all(word);
    const ManagedType* const type = objects.type_of(word);
    if (type == nullptr || type->clr.name != "System.Object[]") continue;
    for (const std::uint64_t argument : objects.words(word, kMaxArguments)) add_all(argument);
  }
}

}  // namespace

std::unordered_map<std::uint64_t, std::uint64_t> posted_to(ManagedObjects& objects,
                                                           const std::vector<std::uint64_t>& contexts,
                                                           const std::unordered_set<std::uint64_t>& wanted,
                                                           const std::unordered_set<std::uint64_t>& beside,
                                                           HeapDeadline end) {
  std::unordered_map<std::uint64_t, std::uint64_t> found;
  if (wanted.empty() && beside.empty()) return found;
  for (const std::uint64_t context : contexts) {
    // A scheduler of a SynchronizationContext has its queue there.
    const ManagedType* const scheduler = objects.type_of(context);
    const std::uint64_t inner =
        scheduler != nullptr ? objects.reference(context, *scheduler, "m_synchronizationContext") : 0;
    std::unordered_set<std::uint64_t> reached = {context};
    std::vector<std::uint64_t> now = {context};
    while (!now.empty() && found.size() < wanted.size() + beside.size()) {
      std::vector<std::uint64_t> next;
      for (const std::uint64_t object : now) {
        if (std::chrono::steady_clock::now() >= end) return found;
        const std::vector<std::uint64_t> words = words_of(objects, object, object == context || object == inner);
        if (!beside.empty()) add_beside(objects, object, words, beside, context, found);
        for (const std::uint64_t word : words) {
          if (wanted.contains(word)) {
            found.try_emplace(word, context);
          } else if (reached.size() < kMaxReached && objects.method_table_of(word) != 0 &&
                     reached.insert(word).second) {
            next.push_back(word);
          }
        }
      }
      objects.expect(next);
      now = std::move(next);
    }
  }
  return found;
}

std::vector<std::uint64_t> contexts_of_threads(ManagedObjects& objects, const std::vector<std::uint64_t>& threads) {
  std::vector<std::uint64_t> contexts;
  for (const std::uint64_t thread : threads) {
    const ManagedType* const type = objects.type_of(thread);
    if (type == nullptr || !type->is("System.Threading.Thread")) continue;
    const std::uint64_t context = objects.reference(thread, *type, "_synchronizationContext");
    if (context == 0 || std::ranges::find(contexts, context) != contexts.end()) continue;
    // The base class has no queue: it posts to the thread pool.
    const ManagedType* const of = objects.type_of(context);
    if (of != nullptr && of->clr.name != "System.Threading.SynchronizationContext") contexts.push_back(context);
  }
  return contexts;
}

}  // namespace mixwalk
