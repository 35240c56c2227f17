#include "walker/hang/lock_turns.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "walker/hang/wait_limit.h"
#include "walker/hang/wait_rules.h"
#include "walker/hang/waits.h"

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
// (walker/locks/monitors.cpp), so no waiter is overlooked.
bool has_all_monitors(const Snapshot& dump) {
  return dump.locks_missing.empty() && dump.runtime.name == ".NET" && dump.runtime.major >= 8 &&
         dump.runtime.major <= 10;
}

bool waits_for_monitor(const Sighting& sighting) {
  return sighting.wait.rule == "monitor-enter" || sighting.wait.rule == "native-monitor-enter";
}

// Whether no other thread holds the lock that the thread waits for, in the dump. So the lock is free, or the thread has
// it, or it is a monitor that the dump does not show although the dump has all monitors. `locks`: for each waiting
// thread of `dump`, the lock.
bool waits_for_free(const Snapshot& dump, const WaitedFor& locks, std::uint32_t waiter, const Sighting& sighting) {
  const auto lock = locks.find(waiter);
  if (lock == locks.end()) return waits_for_monitor(sighting) && has_all_monitors(dump);
  const bool has_got_it = lock->second->owner == waiter && can_enter_again(lock->second->kind);
  return lock->second->is_free() || has_got_it;
}

// Whether another thread of the process must release what the thread waits for. A semaphore may be used as a lock.
bool waits_for_turn(const Wait& wait) {
  return (wait.state == WaitState::blocked && is_lock_wait(wait.rule)) || wait.rule == "semaphore-slim";
}

// Folklore: room in a BlockingCollection goes to any of the threads that wait for it. Real case: of two threads that
// add items to a collection that a third one empties, one was stuck in 2 of 19 pairs and triples of dumps a second
// apart. Remedy: as for a lock without a known owner, one that got room shows that there is room for all. Test:
// FindingsTest.RoomInACollectionThatAnotherThreadGotIsForAll.
bool is_add(const Wait& wait) { return wait.rule == "queue-add"; }
bool waits_in_line(const Wait& wait) { return waits_for_turn(wait) || is_add(wait); }

// What a thread waits for in one dump: a lock that the dump shows, or else the call of the program that asks for the
// lock. A call is a wait rule and the program's method. The methods of .NET in between do not count, since the JIT
// makes one method of several of them when a program has run for a while.
struct Target {
  const Lock* lock = nullptr;
  std::string_view rule;
  std::uint64_t function = 0;  // as in function_ids()

  auto operator<=>(const Target&) const = default;
};

// Nothing if the thread waits for no lock, or if it is unknown for which one. `locks`: those of the sighting's dump.
std::optional<Target> target_of(const ProcessFindings& process, const WaitedFor& locks, std::uint32_t waiter,
                                const Sighting& seen) {
  const auto lock = locks.find(waiter);
  if (lock != locks.end() && seen.wait.state == WaitState::blocked) return Target{.lock = lock->second};
  if (!waits_in_line(seen.wait)) return std::nullopt;
  // The dump shows no ReaderWriterLock. Its readers and its writers ask in different methods, so the method does not
  // count. Real case: a writer between readers was stuck. Test: FindingsTest.AReaderWriterLockThatAReaderGotPassesOn.
  if (seen.wait.rule == "reader-writer") return Target{.rule = seen.wait.rule};
  const std::vector<std::uint64_t>& functions = process.functions[seen.dump][seen.thread];
  if (seen.wait.program >= functions.size()) return std::nullopt;
  return Target{.rule = seen.wait.rule, .function = functions[seen.wait.program]};
}

// What one of the threads that waited for it has got from the dump number `from` to the next one of the process.
// `before` and `after`: the locks of these dumps.
std::set<Target> passed_between(const ProcessFindings& process, std::size_t from, const WaitedFor& before,
                                const WaitedFor& after) {
  const std::uint32_t first = process.numbers[from], second = process.numbers[from + 1];
  std::set<Target> passed;
  for (const std::uint32_t index : process.own_threads) {
    const ThreadHistory& history = process.threads[index];
    const auto earlier = std::ranges::lower_bound(history.sightings, first, {}, &Sighting::dump);
    if (earlier == history.sightings.end() || earlier->dump != first) continue;
    const std::optional<Target> target = target_of(process, before, history.os_id, *earlier);
    // A thread that gave up its wait need not have got the lock when it is past the wait.
    const Thread& thread = process.dumps[first].threads[earlier->thread];
    if (!target || limit_of_wait(thread) == WaitLimit::some) continue;
    const auto later = earlier + 1;
    if (later == history.sightings.end() || later->dump != second) {
      // A thread that has ended does not wait any more.
      if (later == history.sightings.end() && !process.dumps[second].omissions.threads) passed.insert(*target);
      continue;
    }
    // A thread that asks again for what it has waited for may not have had it.
    const bool same_call = later->wait.rule == earlier->wait.rule && waits_in_line(later->wait);
    if (later->went_on && !same_call && !after.contains(history.os_id)) passed.insert(*target);
  }
  return passed;
}

// The number of the place that a stack has from its root up to a frame: equal stacks have equal numbers.
std::uint64_t place_number(std::uint64_t below, std::uint64_t function) {
  return (below ^ function) * 0x100'0000'01b3 + 1;
}

// Calls `visit` with the number of each place on the stack of the last dump's thread, from the root on.
template <class Visit>
void visit_places(const ProcessFindings& process, std::uint32_t thread, Visit visit) {
  std::uint64_t number = 0;
  const std::vector<std::uint64_t>& stack = process.functions[process.dump][thread];
  for (auto function = stack.rbegin(); function != stack.rend(); ++function) {
    visit(number = place_number(number, *function));
  }
}

// The places on the stacks of all threads of the last dump that go on or sleep, and wait for no lock.
std::unordered_set<std::uint64_t> places_that_go_on(const ProcessFindings& process) {
  std::unordered_set<std::uint64_t> places;
  for (std::uint32_t at = 0; at < process.by_place.size(); ++at) {
    const ThreadHistory& history = process.history(at);
    if ((!history.last().went_on && !process.sleeps(history)) || waits_for_turn(history.last().wait)) continue;
    visit_places(process, at, [&](std::uint64_t place) { places.insert(place); });
  }
  return places;
}

// The place in which the waiter asks for its lock: the method of the program, and its callers. A thread that may hold
// the lock is in this place as well, but does not wait.
std::optional<std::uint64_t> asking_place(const ProcessFindings& process, std::uint32_t waiter) {
  const std::vector<std::uint64_t>& functions = process.functions[process.dump][waiter];
  const std::uint32_t program = process.history(waiter).last().wait.program;
  if (program >= functions.size()) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = functions.size(); i-- != program;) number = place_number(number, functions[i]);
  return number;
}

// Whether none of the threads that are known to hold the lock in one dump is known to hold it in the other. Of those
// that have entered a semaphore, one that has left it is enough: it made room for the next thread.
bool has_other_holders(const Lock& before, const Lock& after) {
  const auto holds = [](const Lock& lock, std::uint32_t os_id) {
    return lock.owner == os_id || std::ranges::find(lock.sharers, os_id) != lock.sharers.end();
  };
  if (before.owner == 0 && before.sharers.empty()) return false;
  if (after.owner == 0 && after.sharers.empty()) return false;
  const auto holds_after = [&](std::uint32_t sharer) { return holds(after, sharer); };
  if (before.kind == LockKind::semaphore && !std::ranges::all_of(before.sharers, holds_after)) return true;
  return (before.owner == 0 || !holds_after(before.owner)) && std::ranges::none_of(before.sharers, holds_after);
}

// Whether the lock that the thread waits for has changed its owner from one dump to the next, as far as is known.
bool changed_owner(std::uint32_t waiter, const WaitedFor& before, const WaitedFor& after,
                   const std::set<Target>& passed) {
  const auto first = before.find(waiter), second = after.find(waiter);
  if (first == before.end() || second == after.end()) return false;
  return has_other_holders(*first->second, *second->second) || passed.contains({.lock = first->second});
}

}  // namespace

std::vector<std::uint32_t> same_owner_since(const ProcessFindings& process, std::span<const WaitLink> links) {
  std::vector<std::uint32_t> since(links.size(), process.dump);
  const auto waits = [&](std::uint32_t at) { return at != WaitLink::kNone && links[at].lock != WaitLink::kNone; };
  std::vector<std::uint32_t> open;  // threads whose lock has had the same owner in the dumps so far
  for (std::uint32_t at = 0; at < links.size(); ++at) {
    if (waits(at)) open.push_back(at);
  }
  WaitedFor after = waited_for(process.snapshot);
  for (std::size_t back = 1; back < process.numbers.size() && !open.empty(); ++back) {
    const std::uint32_t dump = process.numbers[process.numbers.size() - 1 - back];
    WaitedFor before = waited_for(process.dumps[dump]);
    const std::set<Target> passed = passed_between(process, process.numbers.size() - 1 - back, before, after);
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

std::vector<std::uint32_t> wait_in_turn(const ProcessFindings& process) {
  WaitedFor after = waited_for(process.snapshot);
  std::map<Target, std::vector<std::uint32_t>> groups;  // threads of the last dump, by what they wait for
  for (std::uint32_t place = 0; place < process.by_place.size(); ++place) {
    const ThreadHistory& history = process.history(place);
    const std::optional<Target> target = target_of(process, after, history.os_id, history.last());
    if (target && (target->lock == nullptr || target->lock->owner == 0)) groups[*target].push_back(place);
  }
  std::vector<std::uint32_t> in_turn;
  const auto take = [&](const auto& goes_on) {
    std::erase_if(groups, [&](const auto& group) {
      if (!goes_on(group.second)) return false;
      in_turn.insert(in_turn.end(), group.second.begin(), group.second.end());
      return true;
    });
  };
  if (groups.empty() || !process.several) return in_turn;
  take([&, going_on = places_that_go_on(process)](const std::vector<std::uint32_t>& places) {
    return std::ranges::any_of(places, [&](std::uint32_t at) {
      // Who is past its call of Add() holds no room.
      if (is_add(process.history(at).last().wait)) return false;
      const std::optional<std::uint64_t> place = asking_place(process, at);
      return place && going_on.contains(*place);
    });
  });
  for (std::size_t from = process.numbers.size() - 1; from-- != 0 && !groups.empty();) {
    const std::uint32_t dump = process.numbers[from];
    WaitedFor before = waited_for(process.dumps[dump]);
    const std::set<Target> passed = passed_between(process, from, before, after);
    after = std::move(before);
    if (passed.empty()) continue;
    take([&](const std::vector<std::uint32_t>& places) {
      return std::ranges::any_of(places, [&](std::uint32_t place) {
        const ThreadHistory& waiter = process.history(place);
        if (dump < waiter.since) return false;
        const Sighting& seen = waiter.sightings[waiter.sightings.size() - (process.numbers.size() - from)];
        const std::optional<Target> target = target_of(process, after, waiter.os_id, seen);
        return target && passed.contains(*target);
      });
    });
  }
  return in_turn;
}

// Folklore: a call into another apartment takes longer than it runs, since two threads and the system pass it on. Real
// case: three threads that call each other back to back; on a machine with 25 threads for 2 processors a thread got
// less than 21 ms of a second, and was stuck in 30 of 99 pairs and triples of dumps. Remedy: no dump shows which thread
// should answer, so if another call of this kind has moved, calls are answered. Tests: FindingsTest, healthy_test.
std::vector<std::uint32_t> calls_in_turn(const ProcessFindings& process) {
  std::vector<std::uint32_t> in_turn;
  if (!process.several) return in_turn;
  std::uint32_t moved = 0;  // the last dump that shows a move; the first one shows none
  for (const std::uint32_t index : process.own_threads) {
    const std::vector<Sighting>& seen = process.threads[index].sightings;
    for (std::size_t i = 1; i < seen.size(); ++i) {
      // (A thread may handle messages while it waits for the answer: then it runs, and has the same stack again.)
      if (seen[i].moved && calls_apartment(seen[i - 1].wait)) moved = std::max(moved, seen[i].dump);
    }
  }
  const WaitedFor locks = waited_for(process.snapshot);
  for (std::uint32_t place = 0; place < process.by_place.size() && moved != 0; ++place) {
    const ThreadHistory& history = process.history(place);
    if (history.verdict != Verdict::stuck || !calls_apartment(history.last().wait)) continue;
    const auto lock = locks.find(history.os_id);
    if (lock != locks.end() && lock->second->owner != 0) continue;
    if (moved > history.since) in_turn.push_back(place);
  }
  return in_turn;
}

std::vector<std::uint32_t> sleeping_holders(const ProcessFindings& process) {
  std::unordered_set<std::uint32_t> owners;
  for (const Lock& lock : process.snapshot.locks) {
    if (!is_held(lock.kind) || lock.waiters.empty()) continue;
    owners.insert(lock.owner);
    owners.insert(lock.sharers.begin(), lock.sharers.end());
  }
  std::unordered_set<std::uint64_t> asking;
  for (std::uint32_t at = 0; at < process.by_place.size(); ++at) {
    if (!waits_for_turn(process.history(at).last().wait)) continue;
    if (const std::optional<std::uint64_t> place = asking_place(process, at)) asking.insert(*place);
  }
  std::vector<std::uint32_t> holders;
  for (std::uint32_t at = 0; at < process.by_place.size(); ++at) {
    const ThreadHistory& history = process.history(at);
    if (!process.sleeps(history)) continue;
    bool holds = owners.contains(history.os_id);
    visit_places(process, at, [&](std::uint64_t place) { holds = holds || asking.contains(place); });
    if (holds) holders.push_back(at);
  }
  return holders;
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
