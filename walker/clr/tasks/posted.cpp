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

}  // namespace

std::unordered_map<std::uint64_t, std::uint64_t> posted_to(ManagedObjects& objects,
                                                           const std::vector<std::uint64_t>& contexts,
                                                           const std::unordered_set<std::uint64_t>& wanted,
                                                           HeapDeadline end) {
  std::unordered_map<std::uint64_t, std::uint64_t> found;
  if (wanted.empty()) return found;
  for (const std::uint64_t context : contexts) {
    // A scheduler of a SynchronizationContext has its queue there.
    const ManagedType* const scheduler = objects.type_of(context);
    const std::uint64_t inner =
        scheduler != nullptr ? objects.reference(context, *scheduler, "m_synchronizationContext") : 0;
    std::unordered_set<std::uint64_t> reached = {context};
    std::vector<std::uint64_t> now = {context};
    while (!now.empty() && found.size() < wanted.size()) {
      std::vector<std::uint64_t> next;
      for (const std::uint64_t object : now) {
        if (std::chrono::steady_clock::now() >= end) return found;
        for (const std::uint64_t word : words_of(objects, object, object == context || object == inner)) {
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
