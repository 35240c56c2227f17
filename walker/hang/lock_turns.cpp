#include "walker/hang/lock_turns.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace mixwalk {
namespace {

// For one dump, the lock that each waiting thread waits for, by the thread's OS id. The key is not the lock's address,
// because an object moves in a garbage collection.
using WaitedFor = std::unordered_map<std::uint32_t, const Lock*>;

WaitedFor waited_for(const Snapshot& dump) {
  WaitedFor locks;
  for (const Lock& lock : dump.locks) {
    for (const LockWaiter& waiter : lock.waiters) {
      if (!waiter.pulse) locks.try_emplace(waiter.os_id, &lock);
    }
  }
  return locks;
}

// Whether the dump shows all monitors. For these runtimes it is known how a thread waits for a monitor
// (walker/outside/monitors.cpp), so no waiter is overlooked.
bool has_all_monitors(const Snapshot& dump) {
  return dump.locks_missing.empty() && dump.runtime.name == ".NET" && dump.runtime.major >= 8 &&
         dump.runtime.major <= 10;
}

bool waits_for_monitor(const Sighting& sighting) {
  return sighting.wait.rule == "monitor-enter" || sighting.wait.rule == "native-monitor-enter";
}

// Whether no other thread holds the lock that the thread waits for, in the dump. So the lock is free, or the thread has
// it, or it is a monitor that the dump does not show although the dump has all monitors. `locks`: for each waiting thread
// of `dump`, the lock.
bool waits_for_free(const Snapshot& dump, const WaitedFor& locks, std::uint32_t waiter, const Sighting& sighting) {
  const auto lock = locks.find(waiter);
  if (lock == locks.end()) return waits_for_monitor(sighting) && has_all_monitors(dump);
  const bool has_got_it = lock->second->owner == waiter && can_enter_again(lock->second->kind);
  return lock->second->is_free() || has_got_it;
}

// Whether the thread may give up its wait. If so, a thread that is past its wait need not have got the lock.
bool may_give_up(const Thread& thread) {
  return std::ranges::any_of(thread.stack.frames, [](const Frame& frame) {
    return frame.name.find("TryEnter") != std::string::npos;
  });
}

// The locks of the second-last dump that one of their waiters has got since then. `before` and `after`: the locks of
// the last two dumps.
std::unordered_set<const Lock*> passed_locks(const ProcessFindings& process, const WaitedFor& before,
                                             const WaitedFor& after) {
  std::unordered_set<const Lock*> passed;
  for (const std::uint32_t index : process.by_place) {
    const ThreadHistory& history = process.threads[index];
    if (history.verdict != Verdict::moved && history.verdict != Verdict::returned) continue;
    const Sighting& earlier = history.sightings[history.sightings.size() - 2];  // it moved, so there are two
    const auto lock = before.find(history.os_id);
    if (earlier.dump != process.numbers[process.numbers.size() - 2] || lock == before.end()) continue;
    const bool waited = earlier.wait.state == WaitState::blocked, waits_again = after.contains(history.os_id);
    if (waited && !waits_again && !may_give_up(process.dumps[earlier.dump].threads[earlier.thread])) {
      passed.insert(lock->second);
    }
  }
  return passed;
}

// Whether the lock that the thread waits for has changed its owner from one dump to the next, as far as is known.
bool changed_owner(std::uint32_t waiter, const WaitedFor& before, const WaitedFor& after,
                   const std::unordered_set<const Lock*>& passed) {
  const auto first = before.find(waiter), second = after.find(waiter);
  if (first == before.end() || second == after.end()) return false;
  const std::uint32_t old_owner = first->second->owner, new_owner = second->second->owner;
  return (old_owner != 0 && new_owner != 0 && old_owner != new_owner) || passed.contains(first->second);
}

}  // namespace

std::vector<std::uint32_t> same_owner_since(const ProcessFindings& process, std::span<const LockLink> links) {
  std::vector<std::uint32_t> since(links.size(), process.dump);
  const auto waits = [&](std::uint32_t at) { return at != LockLink::kNone && links[at].lock != LockLink::kNone; };
  std::vector<std::uint32_t> open;  // threads whose lock has had the same owner in the dumps so far
  for (std::uint32_t at = 0; at < links.size(); ++at) {
    if (waits(at)) open.push_back(at);
  }
  WaitedFor after = waited_for(process.snapshot);
  for (std::size_t back = 1; back < process.numbers.size() && !open.empty(); ++back) {
    const std::uint32_t dump = process.numbers[process.numbers.size() - 1 - back];
    WaitedFor before = waited_for(process.dumps[dump]);
    std::unordered_set<const Lock*> passed;
    if (back == 1) passed = passed_locks(process, before, after);
    std::erase_if(open, [&](std::uint32_t at) {
      const ThreadHistory& waiter = process.history(at);
      // A thread that pauses all managed code runs while it waits, so only the pause itself shows since when.
      const auto lock = after.find(waiter.os_id);
      const bool pauses = lock != after.end() && lock->second->kind == LockKind::pause;
      if (pauses ? waiter.sightings.size() <= back || !before.contains(waiter.os_id) : dump < waiter.since) return true;
      // From waiter.since on the thread is in every dump of the process, so its sightings count from the end.
      const Sighting& seen = waiter.sightings[waiter.sightings.size() - 1 - back];
      if (waits_for_free(process.dumps[dump], before, waiter.os_id, seen)) return true;
      if (changed_owner(waiter.os_id, before, after, passed)) return true;
      since[at] = dump;
      return false;
    });
    after = std::move(before);
  }

  std::vector<bool> known(links.size());
  std::vector<std::uint32_t> path;
  for (std::uint32_t start = 0; start < links.size(); ++start) {
    for (std::uint32_t at = start; waits(at) && !known[at]; at = links[at].owner) {
      known[at] = true;
      path.push_back(at);
    }
    for (; !path.empty(); path.pop_back()) {
      const std::uint32_t owner = links[path.back()].owner;
      if (waits(owner)) since[path.back()] = std::max(since[path.back()], since[owner]);
    }
  }
  return since;
}

std::vector<std::uint32_t> wait_for_free_locks(const ProcessFindings& process) {
  const WaitedFor locks = waited_for(process.snapshot);
  std::vector<std::uint32_t> places;
  for (std::uint32_t place = 0; place < process.by_place.size(); ++place) {
    const ThreadHistory& history = process.history(place);
    if (waits_for_free(process.snapshot, locks, history.os_id, history.last())) places.push_back(place);
  }
  return places;
}

}  // namespace mixwalk
