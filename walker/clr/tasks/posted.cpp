#include "walker/clr/tasks/posted.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string_view>

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

// The delegate that YieldAwaiter.AwaitUnsafeOnCompleted posts, with the method's box (public, .NET 8 to 10).
bool goes_on_after_yield(ManagedObjects& objects, std::uint64_t delegate) {
  const ManagedType* const type = objects.type_of(delegate);
  if (type == nullptr || type->clr.name != "System.Threading.SendOrPostCallback") return false;
  const ManagedType* const target = objects.type_of(objects.reference(delegate, *type, "_target"));
  return target != nullptr && target->clr.name == "System.Runtime.CompilerServices.YieldAwaitable+YieldAwaiter+<>c";
}

// Adds what is beside such a delegate, or in an array of arguments that is beside it (Windows Forms).
void add_yielded(ManagedObjects& objects, const std::vector<std::uint64_t>& words,
                 const std::unordered_set<std::uint64_t>& yielded, std::uint64_t context,
                 std::unordered_map<std::uint64_t, std::uint64_t>& found) {
  if (std::ranges::none_of(words, [&](std::uint64_t word) { return goes_on_after_yield(objects, word); })) return;
  const auto add = [&](std::uint64_t word) {
    if (yielded.contains(word)) found.try_emplace(word, context);
  };
  for (const std::uint64_t word : words) {
    add(word);
    const ManagedType* const type = objects.type_of(word);
    if (type == nullptr || type->clr.name != "System.Object[]") continue;
    for (const std::uint64_t argument : objects.words(word, kMaxArguments)) add(argument);
  }
}

}  // namespace

std::unordered_map<std::uint64_t, std::uint64_t> posted_to(ManagedObjects& objects,
                                                           const std::vector<std::uint64_t>& contexts,
                                                           const std::unordered_set<std::uint64_t>& wanted,
                                                           const std::unordered_set<std::uint64_t>& yielded,
                                                           HeapDeadline end) {
  std::unordered_map<std::uint64_t, std::uint64_t> found;
  if (wanted.empty() && yielded.empty()) return found;
  for (const std::uint64_t context : contexts) {
    // A scheduler of a SynchronizationContext has its queue there.
    const ManagedType* const scheduler = objects.type_of(context);
    const std::uint64_t inner =
        scheduler != nullptr ? objects.reference(context, *scheduler, "m_synchronizationContext") : 0;
    std::unordered_set<std::uint64_t> reached = {context};
    std::vector<std::uint64_t> now = {context};
    while (!now.empty() && found.size() < wanted.size() + yielded.size()) {
      std::vector<std::uint64_t> next;
      for (const std::uint64_t object : now) {
        if (std::chrono::steady_clock::now() >= end) return found;
        const std::vector<std::uint64_t> words = words_of(objects, object, object == context || object == inner);
        if (!yielded.empty()) add_yielded(objects, words, yielded, context, found);
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
