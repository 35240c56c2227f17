#include "walker/hang/lock_turns.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "walker/hang/lock_graph.h"

namespace mixwalk {
namespace {

// Of one dump, by the OS id of a waiter: the lock that it waits for. Not by the address: an object moves in a collection
// of garbage.
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

bool is_free(const Lock& lock) { return lock.owner == 0 && !lock.held; }

// Of these runtimes it is known how a thread waits for a monitor (walker/outside/monitors.cpp): a waiter is not
// overlooked.
bool has_all_monitors(const Snapshot& dump) {
  return dump.locks_missing.empty() && dump.runtime.name == ".NET" && dump.runtime.major >= 8 && dump.runtime.major <= 10;
}

bool waits_for_monitor(const Sighting& sighting) {
  return sighting.wait.rule == "monitor-enter" || sighting.wait.rule == "native-monitor-enter";
}

// Whether the lock that the thread waits for was free at that moment. `locks`: those of `dump`.
bool waits_for_free(const Snapshot& dump, const WaitedFor& locks, const ThreadHistory& waiter, const Sighting& sighting) {
  const auto lock = locks.find(waiter.os_id);
  if (lock == locks.end()) return waits_for_monitor(sighting) && has_all_monitors(dump);
  const LockKind kind = lock->second->kind;
  const bool has_got_it = lock->second->owner == waiter.os_id && is_held(kind) && kind != LockKind::srw_lock;
  return is_free(*lock->second) || has_got_it;
}

// That it is past its wait does not say that it got the lock.
bool may_give_up(const Thread& thread) {
  return std::ranges::any_of(thread.stack.frames, [](const Frame& frame) {
    return frame.name.find("TryEnter") != std::string::npos;
  });
}

class Turns {
 public:
  explicit Turns(const ProcessFindings& process) : process_(process) {
    for (const std::uint32_t dump : process.numbers) waited_for_.push_back(waited_for(process.dumps[dump]));
    find_passed();
  }

  // Index into the dumps; no further back than where the thread has stood.
  std::uint32_t since(const ThreadHistory& waiter) const {
    std::size_t at = process_.numbers.size() - 1;
    while (at != 0 && process_.numbers[at - 1] >= waiter.since && !went_round(waiter, at - 1)) --at;
    return process_.numbers[at];
  }

 private:
  // Between the dump `at` and the next one, as far as the dumps know.
  bool went_round(const ThreadHistory& waiter, std::size_t at) const {
    const std::uint32_t dump = process_.numbers[at];
    const auto sighting = std::ranges::find(waiter.sightings, dump, &Sighting::dump);
    if (sighting == waiter.sightings.end()) return false;
    if (waits_for_free(process_.dumps[dump], waited_for_[at], waiter, *sighting)) return true;
    const auto before = waited_for_[at].find(waiter.os_id), after = waited_for_[at + 1].find(waiter.os_id);
    if (before == waited_for_[at].end() || after == waited_for_[at + 1].end()) return false;
    const Lock &first = *before->second, &second = *after->second;
    if (first.owner != 0 && second.owner != 0 && first.owner != second.owner) return true;
    return passed_.contains(&first);
  }

  // The locks of the dump before the last one that one of their waiters has got since.
  void find_passed() {
    if (process_.numbers.size() < 2) return;
    const std::size_t at = process_.numbers.size() - 2;
    for (const std::uint32_t index : process_.by_place) {
      const ThreadHistory& history = process_.threads[index];
      if (history.verdict != Verdict::moved && history.verdict != Verdict::returned) continue;
      const Sighting& before = history.sightings[history.sightings.size() - 2];  // it moved: there are two
      const auto lock = waited_for_[at].find(history.os_id);
      if (before.dump != process_.numbers[at] || lock == waited_for_[at].end()) continue;
      const bool waits_again = waited_for_[at + 1].contains(history.os_id);
      const bool waited = before.wait.standing == Standing::blocked;
      if (waited && !waits_again && !may_give_up(process_.dumps[before.dump].threads[before.thread])) {
        passed_.insert(lock->second);
      }
    }
  }

  const ProcessFindings& process_;
  std::vector<WaitedFor> waited_for_;  // as numbers
  std::unordered_set<const Lock*> passed_;
};

}  // namespace

std::vector<std::uint32_t> unturned_since(const ProcessFindings& process) {
  std::vector<std::uint32_t> since(process.snapshot.threads.size(), process.dump);
  const std::vector<LockLink> links = lock_links(process.snapshot);
  const Turns turns(process);
  std::vector<bool> known(links.size());
  std::vector<std::uint32_t> path;
  for (std::uint32_t start = 0; start < links.size(); ++start) {
    for (std::uint32_t at = start; at != LockLink::kNone && links[at].lock != LockLink::kNone && !known[at]; at = links[at].owner) {
      known[at] = true;
      path.push_back(at);
      since[at] = turns.since(process.history(at));
    }
    for (; !path.empty(); path.pop_back()) {
      const std::uint32_t owner = links[path.back()].owner;
      const bool waits_too = owner != LockLink::kNone && links[owner].lock != LockLink::kNone;
      if (waits_too) since[path.back()] = std::max(since[path.back()], since[owner]);
    }
  }
  return since;
}

std::vector<std::uint32_t> wait_for_free_locks(const ProcessFindings& process) {
  const WaitedFor locks = waited_for(process.snapshot);
  std::vector<std::uint32_t> places;
  for (std::uint32_t place = 0; place < process.by_place.size(); ++place) {
    const ThreadHistory& history = process.history(place);
    if (waits_for_free(process.snapshot, locks, history, history.last())) places.push_back(place);
  }
  return places;
}

}  // namespace mixwalk
