// Findings about threads that wait for each other: chains, and static constructors that never end.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "walker/hang/finding_texts.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/lock_turns.h"
#include "walker/hang/process_findings.h"
#include "walker/hang/task_words.h"
#include "walker/hang/waits.h"

namespace mixwalk {
namespace {

// Whether the last thread of the chain pauses all managed code, and waits for the holder.
bool ends_in_pause(const ProcessFindings& process, const WaitChain& chain) {
  const std::uint32_t lock = chain.links.back().lock;
  return lock != WaitLink::kNone && process.snapshot.locks[lock].kind == LockKind::pause;
}

// The progress of the thread at the end of a chain. Folklore: a thread for which a pause of managed code waits uses
// processor time although it only waits, because the runtime suspends it again and again. Real case: way "collection"
// of fixtures/hangs, whose thread was "back at the same place". Remedy: only its stack counts, if it is in a known
// wait, in which no thread that the runtime takes for managed code should be. Tests: FindingsTest,
// hangs_without_locks_test.
Progress holder_progress(const ProcessFindings& process, const WaitChain& chain) {
  const ThreadHistory& holder = process.history(chain.holder);
  const WaitState state = holder.last().wait.state;
  const bool in_wait = state != WaitState::unknown && state != WaitState::runs && !process.sleeps(holder);
  if (ends_in_pause(process, chain)) {
    if (holder.verdict == Verdict::returned && in_wait) return Progress::no;
    // A thread that runs stops soon for the pause. If it got no processor time between two dumps, it seems to stand.
    if (state == WaitState::runs) return Progress::unclear;
  }
  return process.progress(process.by_place[chain.holder]);
}

void add_waiters_behind(const ProcessFindings& process, Finding& finding, const WaitChain& chain) {
  std::set<std::uint32_t> shown;
  for (const FindingThread& part : finding.threads) shown.insert(part.thread);
  for (const std::uint32_t place : chain.waiters) {
    const std::uint32_t index = process.by_place[place];
    if (!shown.contains(index)) finding.behind.push_back(index);
  }
  std::ranges::sort(finding.behind);
  if (finding.behind.empty()) return;
  finding.details.push_back(unlisted_words(finding.behind.size(), chain.waiters.size()));
}

struct Waiters {
  std::size_t stuck = 0;
  bool changed_owner = false;  // the lock, since the dump before
};

// Gives the stuck waiters of a chain their verdicts, by what is known about its holder. `since`: same_owner_since().
Waiters settle_waiters(ProcessFindings& process, const WaitChain& chain, Progress holder,
                       const std::vector<std::uint32_t>& since) {
  Waiters out;
  for (const std::uint32_t place : chain.waiters) {
    const std::uint32_t index = process.by_place[place];
    ThreadHistory& waiter = process.threads[index];
    // It runs while it waits (LockKind::pause), so its verdict says nothing.
    const bool pauses = process.several && holder == Progress::no && ends_in_pause(process, chain) &&
                        chain.links.back().thread == place;
    if (pauses && since[place] != process.dump) {
      waiter.verdict = Verdict::stuck;
      process.set_since(waiter, since[place]);
    }
    if (waiter.verdict != Verdict::stuck) continue;
    if (holder == Progress::yes) {
      process.mark_progressing(index);
    } else if (holder == Progress::unclear) {
      waiter.verdict = Verdict::unclear;
    } else if (since[place] == process.dump) {
      process.mark_progressing(index);
      out.changed_owner = true;
    } else {
      if (waiter.since < since[place]) process.set_since(waiter, since[place]);
      ++out.stuck;
    }
  }
  return out;
}

// Judges a chain, and gives its threads their verdicts. Returns nothing if it is worth no finding.
std::optional<ChainJudgement> judge_chain(ProcessFindings& process, const WaitChain& chain,
                                          const std::vector<std::uint32_t>& since) {
  const bool known = chain.end == ChainEnd::thread;
  const Progress progress = known ? holder_progress(process, chain) : Progress::no;
  const auto [stuck, changed_owner] = settle_waiters(process, chain, progress, since);
  ThreadHistory* const holder = known ? &process.threads[process.by_place[chain.holder]] : nullptr;
  if (known && stuck != 0 && process.polls(*holder)) process.set_since(*holder, holder->polls_since);
  const std::uint32_t nearest = chain.links.back().lock;
  const Lock* const lock = nearest != WaitLink::kNone ? &process.snapshot.locks[nearest] : nullptr;
  const bool held = lock != nullptr && is_held(lock->kind);
  const bool unclear = progress == Progress::unclear;
  // If the holder is stuck, a thread that has just reached the lock waits for ever as well.
  const bool holder_stuck = known && !changed_owner && holder->verdict == Verdict::stuck;
  ChainJudgement out{.end = chain.end, .lock = lock, .waiters = chain.waiters.size(), .progress = progress};
  out.contended = progress == Progress::yes || (process.several && stuck == 0 && !holder_stuck && !unclear);
  out.holder_sleeps = known && process.sleeps(*holder);
  const bool is_worth_it = chain.waiters.size() > 1 || out.holder_sleeps;
  // If the thread serves a call or is joined, and makes progress, a finding is not worthwhile.
  if (out.contended && (!is_worth_it || !held)) return std::nullopt;
  // Threads wait for tasks that others run all the time. In a body of Parallel.For between two dumps it may not be seen
  // whether the thread has run.
  if (lock == nullptr && unclear) return std::nullopt;
  if (known) {
    out.holder = &process.snapshot.threads[chain.holder];
    const bool stopped = ends_in_pause(process, chain) && holder->verdict == Verdict::returned;
    if (stopped) process.set_since(*holder, holder->sightings[holder->sightings.size() - 2].dump);
  }
  out.passes_on = changed_owner || (!known && std::ranges::any_of(chain.waiters, [&](std::uint32_t place) {
                    return process.progressing.contains(process.by_place[place]);
                  }));
  return out;
}

// What the thread at the end of the chain does for the one that waits for it.
std::string holder_text(const ProcessFindings& process, const GraphChains& waits, const WaitChain& chain,
                        const ChainJudgement& judged) {
  const WaitLink& nearest = chain.links.back();
  const ThreadHistory& history = process.history(chain.holder);
  if (process.is_constructor_lock(nearest)) return constructor_words(*judged.holder, history);
  const std::vector<std::uint32_t> path = waits.path(process.graph, nearest.thread);
  if (judged.lock != nullptr && path.size() == 1) return holder_words(*judged.lock, history);
  return runner_words(process.graph, path.back()) + " and " + state_words(history);
}

void wait_chain(ProcessFindings& process, const GraphChains& waits, const WaitChain& chain,
                const std::vector<std::uint32_t>& since) {
  auto judged = judge_chain(process, chain, since);
  if (!judged) return;
  if (judged->holder != nullptr && !process.holds_it_itself(waits, chain.links.back())) judged->lock = nullptr;
  const bool proven = process.several && !judged->contended && judged->progress != Progress::unclear;
  Finding out = process.finding(judged->contended ? FindingKind::contended : FindingKind::chain,
                                proven ? Severity::stuck : Severity::note, chain_text(*judged));
  if (judged->holder != nullptr) {
    out.threads.push_back(
        process.part(process.by_place[chain.holder], holder_text(process, waits, chain, *judged)));
  }
  for (auto link = chain.links.rbegin(); link != chain.links.rend(); ++link) {
    if (!out.threads.empty() && process.holds_it_itself(waits, *link)) out.threads.back().holds = {link->lock};
    out.threads.push_back(process.waiter(waits, *link));
  }
  add_waiters_behind(process, out, chain);
  process.add(std::move(out));
}

// A thread in a static constructor may wait for a lock whose holder makes progress. Then the constructor makes
// progress, too.
void mark_waiters_progressing(ProcessFindings& process, const std::vector<WaitChain>& chains) {
  for (const WaitChain& chain : chains) {
    if (chain.end != ChainEnd::thread) continue;
    if (holder_progress(process, chain) != Progress::yes) continue;
    for (const std::uint32_t place : chain.waiters) {
      const std::uint32_t index = process.by_place[place];
      if (process.threads[index].verdict == Verdict::stuck) process.mark_progressing(index);
    }
  }
}

// Whether the thread does the work for which a thread in this wait waits. The runtime calls the handlers of
// ProcessExit, for which Environment.Exit waits, on the finalizer thread.
bool does_work_for(const Thread& thread, std::string_view wait) {
  if (wait == "exit" || wait == "finalizers-wait") return is_finalizer(thread);
  return wait == "cancellation-callback" && std::ranges::any_of(thread.stack.frames, runs_cancellation_callbacks);
}

// The progress of the threads that do the work for which a thread in this wait waits. If it is not known which of
// several threads does it, one that makes progress is enough.
Progress progress_of_work(const ProcessFindings& process, std::string_view wait) {
  Progress best = Progress::no;
  for (const std::uint32_t index : process.by_place) {
    if (!does_work_for(process.thread(process.threads[index]), wait)) continue;
    const Progress worker = process.progress(index);
    if (worker == Progress::yes) return worker;
    if (worker == Progress::unclear) best = worker;
  }
  return best;
}

// The OS ids of the threads that wait for a callback of which the dump says which thread runs it. Each is in a chain
// with that thread.
std::set<std::uint32_t> wait_for_known_callback(const Snapshot& snapshot) {
  std::set<std::uint32_t> waiters;
  for (const Lock& lock : snapshot.locks) {
    if (lock.kind != LockKind::callback) continue;
    for (const LockWaiter& waiter : lock.waiters) waiters.insert(waiter.os_id);
  }
  return waiters;
}

// A thread may wait for handlers, finalizers or callbacks that another thread runs. If that thread makes progress, so
// does the one that waits. Real cases: a program that ended under a lock while its handler of ProcessExit stored its
// work; a registration that was disposed of while its callback ran.
void settle_waiters_for_work(ProcessFindings& process) {
  const std::set<std::uint32_t> in_chains = wait_for_known_callback(process.snapshot);
  std::map<std::string_view, Progress> known;  // by the wait
  for (const std::uint32_t index : process.by_place) {
    ThreadHistory& waiter = process.threads[index];
    if (waiter.last().wait.rule == "cancellation-callback" && in_chains.contains(waiter.os_id)) continue;
    const auto [work, added] = known.try_emplace(waiter.last().wait.rule);
    if (added) work->second = progress_of_work(process, work->first);
    if (work->second == Progress::yes) process.mark_progressing(index);
    const bool waits = waiter.verdict == Verdict::stuck || waiter.verdict == Verdict::waiting;
    if (work->second == Progress::unclear && waits) waiter.verdict = Verdict::unclear;
  }
}

// The OS ids of the threads that wait for a lock whose owner is known.
std::set<std::uint32_t> wait_for_known_owner(const ProcessFindings& process) {
  std::set<std::uint32_t> out;
  for (const Lock& lock : process.snapshot.locks) {
    if (lock.owner == 0) continue;
    for (const LockWaiter& waiter : lock.waiters) out.insert(waiter.os_id);
  }
  return out;
}

// Not all of the runtime's locks can be seen, so all constructors that make no progress are named. If another
// constructor does make progress, a thread may be waiting for that one. The finding is then only a note, and threads
// whose lock has a known owner are left to the lock chains. Returns the threads of the finding.
std::set<std::uint32_t> class_constructors(ProcessFindings& process) {
  std::vector<std::uint32_t> waiters, runners;
  for (const std::uint32_t index : process.by_place) {
    const ThreadHistory& history = process.threads[index];
    if (process.covered.contains(index) || !process.is_stuck(history)) continue;
    if (ProcessFindings::waits_for_constructor(history)) waiters.push_back(index);
  }
  if (waiters.empty()) return {};
  bool any_progresses = false, any_unclear = false;
  for (const std::uint32_t index : process.by_place) {
    const ThreadHistory& history = process.threads[index];
    if (ProcessFindings::waits_for_constructor(history)) continue;
    if (running_constructor(process.thread(history)) == nullptr) continue;
    const Progress runner = process.progress(index);
    any_progresses = any_progresses || runner == Progress::yes;
    any_unclear = any_unclear || runner == Progress::unclear;
    if (runner != Progress::yes) runners.push_back(index);
  }
  if (runners.empty()) {
    // The constructor will end sooner or later.
    for (const std::uint32_t index : waiters) {
      if (any_progresses && process.several) process.mark_progressing(index);
    }
    return {};
  }
  if (any_progresses || any_unclear) {
    const std::set<std::uint32_t> known = wait_for_known_owner(process);
    std::erase_if(waiters, [&](std::uint32_t index) { return known.contains(process.threads[index].os_id); });
    if (waiters.empty()) return {};
    for (const std::uint32_t index : waiters) {
      if (process.several) process.threads[index].verdict = any_progresses ? Verdict::waiting : Verdict::unclear;
    }
  }
  // A thread that waits for a constructor may itself be in another one.
  const std::size_t running =
      runners.size() + static_cast<std::size_t>(std::ranges::count_if(waiters, [&](std::uint32_t index) {
        return running_constructor(process.thread(process.threads[index])) != nullptr;
      }));
  const bool proven = process.several && !any_progresses && !any_unclear;
  Finding out = process.finding(FindingKind::class_constructor, proven ? Severity::stuck : Severity::note,
                                constructor_text({.waiters = waiters.size(),
                                                  .running = running,
                                                  .first_runner = &process.thread(process.threads[runners.front()]),
                                                  .any_progresses = any_progresses,
                                                  .any_unclear = any_unclear}));
  for (const std::uint32_t index : runners) {
    const ThreadHistory& history = process.threads[index];
    out.threads.push_back(process.part(index, constructor_words(process.thread(history), history)));
  }
  process.put_threads(out, waiters);
  process.add(std::move(out));
  return {waiters.begin(), waiters.end()};
}

}  // namespace

void find_locks(ProcessFindings& process) {
  for (const std::uint32_t place : wait_for_free_locks(process)) process.mark_progressing(process.by_place[place]);
  for (const std::uint32_t place : wait_in_turn(process)) process.mark_progressing(process.by_place[place]);
  for (const std::uint32_t place : calls_in_turn(process)) process.mark_progressing(process.by_place[place]);
  for (const std::uint32_t place : sleeping_holders(process)) process.mark_progressing(process.by_place[place]);
  const GraphChains waits = wait_chains(process.graph, process.outlooks());
  process.follow_tasks(waits);
  for (const WaitChain& chain : waits.chains) {
    if (chain.is_deadlock()) find_deadlock(process, waits, chain);
  }
  mark_waiters_progressing(process, waits.chains);
  settle_waiters_for_work(process);
  const std::set<std::uint32_t> explained = class_constructors(process);
  const std::vector<std::uint32_t> since = same_owner_since(process, waits.links);
  for (const WaitChain& chain : waits.chains) {
    const bool known = std::ranges::all_of(
        chain.waiters, [&](std::uint32_t place) { return explained.contains(process.by_place[place]); });
    if (!chain.is_deadlock() && !known) wait_chain(process, waits, chain, since);
  }
  find_unclear_circles(process);
}

}  // namespace mixwalk
