#include "walker/locks/semaphores.h"

#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "walker/clr/question_messages.h"

namespace mixwalk {
namespace {

constexpr std::string_view kSemaphore = "System.Threading.SemaphoreSlim";

}  // namespace

void add_semaphores_of_tasks(Snapshot& snapshot, ClrQuestions& clr) {
  std::set<std::uint64_t> wanted;
  for (const AsyncTask& task : snapshot.tasks) {
    if (task.object != 0 && task.object_type == kSemaphore) wanted.insert(task.object);
  }
  for (const Lock& lock : snapshot.locks) wanted.erase(lock.address);
  const std::vector<std::uint64_t> objects(wanted.begin(), wanted.end());
  for (std::size_t at = 0; at < objects.size(); at += kMaxAsked) {
    const auto some = std::span(objects).subspan(at, std::min(kMaxAsked, objects.size() - at));
    const std::vector<std::optional<ClrLock>> answers = clr.lock_objects(some);
    for (std::size_t i = 0; i < some.size() && i < answers.size(); ++i) {
      if (!answers[i] || !answers[i]->semaphore) continue;
      snapshot.locks.push_back({.kind = LockKind::semaphore,
                                .address = some[i],
                                .type = std::string(kSemaphore),
                                .held = answers[i]->held,
                                .waiters = {}});
    }
  }
  std::ranges::stable_sort(snapshot.locks, {}, &Lock::kind);
}

}  // namespace mixwalk
