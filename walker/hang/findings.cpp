#include "walker/hang/findings.h"

#include <algorithm>
#include <map>
#include <set>

#include "symbols/clr_stub.h"
#include "walker/hang/finding_gaps.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/function_ids.h"
#include "walker/hang/lock_graph.h"
#include "walker/hang/match.h"
#include "walker/hang/waits.h"

namespace mixwalk {
namespace {

// A pool of fewer workers says little by all of them being at work.
constexpr std::size_t kFewestWorkers = 3;
constexpr std::string_view kStaticConstructor = "..cctor";
// Fewer threads in one call are no pattern.
constexpr std::size_t kFewestInCall = 2;

constexpr std::string_view kApartmentCalls = "COM calls into another apartment or process";
constexpr std::string_view kApartmentHint =
    "A thread of a single-threaded apartment answers when it handles messages: look for one that waits and handles "
    "none.";

bool waits_for_constructor(const ThreadHistory& thread) {
  const Wait& wait = thread.last().wait;
  return wait.rule == "class-constructor" || wait.rule == "native-class-constructor";
}

// The innermost static constructor that the thread is in; null: it is in none.
const Frame* running_constructor(const Thread& thread) {
  for (const Frame& frame : thread.stack.frames) {
    if (frame.kind != FrameKind::managed || frame.name.find(kStaticConstructor) == std::string::npos) continue;
    if (method_of(frame.name).ends_with(kStaticConstructor)) return &frame;
  }
  return nullptr;
}

// Of a thread that is in one: "runs the static constructor of Orders.Settings".
std::string constructor_words(const Thread& thread) {
  const std::string method = method_of(running_constructor(thread)->name);
  return "runs the static constructor of " + clipped(method.substr(0, method.size() - kStaticConstructor.size()));
}

bool does_not_go_on(const ThreadHistory& thread) {
  return thread.verdict == Verdict::stuck || thread.verdict == Verdict::waiting || thread.verdict == Verdict::once ||
         thread.verdict == Verdict::idle || thread.verdict == Verdict::unclear || thread.verdict == Verdict::spinning;
}

// The findings of one process, from its last dump.
class ProcessFindings {
 public:
  ProcessFindings(std::span<const Snapshot> dumps, std::span<const std::uint32_t> numbers,
                  std::vector<ThreadHistory>& threads, std::uint32_t first_thread)
      : dump_(numbers.back()),
        first_dump_(numbers.front()),
        several_(numbers.size() > 1),
        snapshot_(dumps[dump_]),
        threads_(threads),
        by_place_(snapshot_.threads.size(), kNoThread) {
    for (std::uint32_t i = first_thread; i < threads.size(); ++i) {
      if (threads[i].last().dump == dump_) by_place_[threads[i].last().thread] = i;
    }
  }

  std::vector<Finding> find() {
    lock_findings();
    starved_pool();
    finalizer();
    common_calls();
    spinning();
    stuck_groups();
    return std::move(findings_);
  }

 private:
  static constexpr std::uint32_t kNoThread = 0xFFFF'FFFF;

  const ThreadHistory& history(std::uint32_t place) const { return threads_[by_place_[place]]; }
  const Thread& thread(const ThreadHistory& history) const { return snapshot_.threads[history.last().thread]; }

  FindingThread part(std::uint32_t index, std::string words) const {
    const Wait& wait = threads_[index].last().wait;
    const std::uint32_t frame = wait.program != kNoFrame ? wait.program : wait.frame;
    return {.thread = index, .dump = dump_, .frame = frame, .words = std::move(words), .holds = {}};
  }

  Finding finding(FindingKind kind, Severity severity, std::string title) const {
    return {.kind = kind, .severity = severity, .title = std::move(title), .since = dump_};
  }

  void add(Finding finding) {
    std::uint32_t since = 0;
    for (const FindingThread& part : finding.threads) {
      covered_.insert(part.thread);
      since = std::max(since, threads_[part.thread].since);
    }
    covered_.insert(finding.behind.begin(), finding.behind.end());
    if (!finding.threads.empty()) finding.since = since;
    if (finding.severity != Severity::note || finding.kind == FindingKind::spinning) {
      if (std::string text = duration_words(threads_, finding); !text.empty()) {
        finding.details.push_back(std::move(text));
      }
    }
    findings_.push_back(std::move(finding));
  }

  // The part of a thread that waits for a lock of the chain.
  FindingThread waiter(const LockLink& link) const {
    const Lock& lock = snapshot_.locks[link.lock];
    std::string words = "waits for " + lock_words(lock);
    if (is_constructor_lock(link)) {
      words = "waits for a static constructor that " + thread_words(snapshot_.threads[link.owner]) + " runs";
    } else if (link.owner != LockLink::kNone) {
      words += ", held by " + thread_words(snapshot_.threads[link.owner]);
    } else if (lock.owner != 0) {
      words += ", held by thread " + hex(lock.owner) + ", which is not in the dump";
    } else {
      words += ", of which nobody can say who holds it";
    }
    FindingThread out = part(by_place_[link.thread], std::move(words));
    out.waits_for = link.lock;
    return out;
  }

  // The runtime runs a static constructor under a lock of its own, a critical section: whether that is what the thread
  // waits for.
  bool is_constructor_lock(const LockLink& link) const {
    return link.owner != LockLink::kNone && waits_for_constructor(history(link.thread)) &&
           running_constructor(snapshot_.threads[link.owner]) != nullptr;
  }

  void lock_findings() {
    const std::vector<LockChain> chains = lock_chains(snapshot_);
    for (const LockChain& chain : chains) {
      if (chain.end == ChainEnd::cycle) deadlock(chain);
    }
    const std::set<std::uint32_t> explained = class_constructors();
    for (const LockChain& chain : chains) {
      const bool known = std::ranges::all_of(
          chain.waiters, [&](std::uint32_t place) { return explained.contains(by_place_[place]); });
      if (chain.end != ChainEnd::cycle && !known) lock_chain(chain);
    }
  }

  void put_behind(Finding& finding, const LockChain& chain) const {
    std::set<std::uint32_t> shown;
    for (const FindingThread& part : finding.threads) shown.insert(part.thread);
    for (const std::uint32_t place : chain.waiters) {
      const std::uint32_t index = by_place_[place];
      if (!shown.contains(index)) finding.behind.push_back(index);
    }
    std::ranges::sort(finding.behind);
    if (!finding.behind.empty()) finding.details.push_back(behind_words(finding.behind.size()));
  }

  void deadlock(const LockChain& chain) {
    const bool alone = chain.links.size() == 1;
    Finding out = finding(FindingKind::deadlock, Severity::deadlock,
                          alone ? "Deadlock: a thread waits for a lock that it holds itself"
                                : "Deadlock of " + count_words(chain.links.size(), "thread"));
    for (std::size_t i = 0; i < chain.links.size(); ++i) {
      out.threads.push_back(waiter(chain.links[i]));
      // The lock that the one before it waits for.
      out.threads.back().holds = {chain.links[i == 0 ? chain.links.size() - 1 : i - 1].lock};
    }
    put_behind(out, chain);
    add(std::move(out));
  }

  void lock_chain(const LockChain& chain) {
    const bool known = chain.end == ChainEnd::thread;
    const bool goes_on = known && (several_ ? !does_not_go_on(history(chain.holder))
                                            : history(chain.holder).last().wait.standing == Standing::runs);
    std::size_t stuck = 0;
    for (const std::uint32_t place : chain.waiters) stuck += history(place).verdict == Verdict::stuck;
    const bool contended = goes_on || (several_ && stuck == 0);
    if (contended) {
      // It is their turn sooner or later.
      for (const std::uint32_t place : chain.waiters) {
        ThreadHistory& waiter = threads_[by_place_[place]];
        if (waiter.verdict == Verdict::stuck) waiter.verdict = Verdict::waiting;
      }
      if (chain.waiters.size() < 2) return;
    }
    const std::string waiters = count_words(chain.waiters.size(), "thread");
    const std::string verb = chain.waiters.size() == 1 ? " waits" : " wait";
    const LockLink& nearest = chain.links.back();
    Finding out = finding(contended ? FindingKind::contended : FindingKind::chain,
                          several_ && !contended ? Severity::stuck : Severity::note, {});
    if (known) {
      const ThreadHistory& holder = history(chain.holder);
      out.title = waiters + verb + " for what " + thread_words(snapshot_.threads[chain.holder]) + " holds";
      const std::string doing = is_constructor_lock(nearest) ? constructor_words(snapshot_.threads[chain.holder])
                                                             : "holds " + lock_words(snapshot_.locks[nearest.lock]);
      FindingThread held = part(by_place_[chain.holder], doing + " and " + state_words(holder));
      held.holds = {nearest.lock};
      out.threads.push_back(std::move(held));
      if (contended) out.details.push_back("The holder goes on: the lock is contended, and nobody is stuck.");
    } else if (chain.end == ChainEnd::gone) {
      out.title = waiters + verb + " for a lock of thread " + hex(snapshot_.locks[nearest.lock].owner) +
                  ", which is not in the dump";
      out.details.push_back("That thread has ended without leaving the lock, or was not looked at.");
    } else {
      out.title = waiters + verb + " for " + lock_words(snapshot_.locks[nearest.lock]) +
                  ", and nobody can say which thread holds it";
    }
    for (auto link = chain.links.rbegin(); link != chain.links.rend(); ++link) out.threads.push_back(waiter(*link));
    for (std::size_t i = known ? 1 : 0; i + 1 < out.threads.size(); ++i) {
      out.threads[i].holds = {out.threads[i + 1].waits_for};
    }
    put_behind(out, chain);
    add(std::move(out));
  }

  // Of one dump alone: it does not run, as far as can be seen.
  bool stands(const ThreadHistory& history) const {
    if (several_) return history.verdict == Verdict::stuck || history.verdict == Verdict::waiting;
    const Standing standing = history.last().wait.standing;
    return standing != Standing::runs && standing != Standing::unknown;
  }

  // Each with what it waits for; those that are too many to be shown stand behind.
  void put_threads(Finding& finding, const std::vector<std::uint32_t>& threads) const {
    for (const std::uint32_t index : threads) {
      if (finding.threads.size() < kShownThreads) {
        finding.threads.push_back(part(index, threads_[index].last().wait.words));
      } else {
        finding.behind.push_back(index);
      }
    }
  }

  // Threads by their OS ids that wait for a lock whose owner is known.
  std::set<std::uint32_t> wait_for_known_owner() const {
    std::set<std::uint32_t> out;
    for (const Lock& lock : snapshot_.locks) {
      if (lock.owner == 0) continue;
      for (const LockWaiter& waiter : lock.waiters) out.insert(waiter.os_id);
    }
    return out;
  }

  // Not all of the runtime's locks can be seen, so all constructors that do not go on are named. Where another one goes
  // on, a thread may wait for that one: this is then no more than a note, and a thread whose lock has a known owner is
  // left to the chain of locks. Returns the threads of the finding.
  std::set<std::uint32_t> class_constructors() {
    std::vector<std::uint32_t> waiters, runners;
    for (const std::uint32_t index : by_place_) {
      const ThreadHistory& history = threads_[index];
      const bool stuck = !several_ || history.verdict == Verdict::stuck;
      if (stuck && waits_for_constructor(history) && !covered_.contains(index)) waiters.push_back(index);
    }
    if (waiters.empty()) return {};
    bool one_goes_on = false;
    for (const std::uint32_t index : by_place_) {
      const ThreadHistory& history = threads_[index];
      if (waits_for_constructor(history) || running_constructor(thread(history)) == nullptr) continue;
      const bool runs = !several_ && history.last().wait.standing == Standing::runs;
      if (does_not_go_on(history) && !runs) {
        runners.push_back(index);
      } else {
        one_goes_on = true;
      }
    }
    if (runners.empty()) {
      // The constructor comes to its end sooner or later.
      for (const std::uint32_t index : waiters) {
        if (one_goes_on && several_) threads_[index].verdict = Verdict::waiting;
      }
      return {};
    }
    if (one_goes_on) {
      const std::set<std::uint32_t> known = wait_for_known_owner();
      std::erase_if(waiters, [&](std::uint32_t index) { return known.contains(threads_[index].os_id); });
      if (waiters.empty()) return {};
      for (const std::uint32_t index : waiters) {
        if (several_) threads_[index].verdict = Verdict::waiting;
      }
    }
    // One that waits for a constructor may be in another one.
    const std::size_t running = runners.size() + static_cast<std::size_t>(std::ranges::count_if(waiters, [&](std::uint32_t index) {
      return running_constructor(thread(threads_[index])) != nullptr;
    }));
    std::string title = count_words(waiters.size(), "thread") + (waiters.size() == 1 ? " waits" : " wait") +
                        " for a static constructor";
    if (one_goes_on) {
      title += ": one that goes on, or one that does not";
    } else {
      title += running == 1 ? " that " + thread_words(thread(threads_[runners.front()])) + " runs"
                            : "; " + count_words(running, "thread") + " run one";
    }
    const Severity severity = several_ && !one_goes_on ? Severity::stuck : Severity::note;
    Finding out = finding(FindingKind::class_constructor, severity, std::move(title));
    for (const std::uint32_t index : runners) {
      const ThreadHistory& history = threads_[index];
      out.threads.push_back(part(index, constructor_words(thread(history)) + " and " + state_words(history)));
    }
    put_threads(out, waiters);
    if (!out.behind.empty()) out.details.push_back(behind_words(out.behind.size()));
    add(std::move(out));
    return {waiters.begin(), waiters.end()};
  }

  // Workers that wait for time, for other programs or for signals look alike in a program whose loops are items of the
  // pool, and in one that is starved. Only the latter gets further workers.
  void starved_pool() {
    std::vector<std::uint32_t> workers;
    std::map<std::string_view, std::size_t> rules;
    std::size_t standing = 0;
    bool grows = false;
    for (const std::uint32_t index : by_place_) {
      const ThreadHistory& worker = threads_[index];
      if (!is_pool_worker(thread(worker))) continue;
      const Wait& wait = worker.last().wait;
      const bool blocked = wait.standing != Standing::runs && wait.standing != Standing::unknown;
      // The pool adds a worker once or twice a second as long as it is starved: the newest was in no dump before.
      const bool is_new = worker.verdict == Verdict::appeared && blocked;
      if ((!stands(worker) && !is_new) || wait.standing == Standing::idle) return;
      standing += !is_new;
      grows = grows || worker.sightings.front().dump != first_dump_;
      workers.push_back(index);
      ++rules[wait.rule];
    }
    if (standing < kFewestWorkers) return;
    const auto most = std::ranges::max_element(rules, {}, &decltype(rules)::value_type::second);
    if (most->second * 2 <= workers.size()) return;
    std::stable_partition(workers.begin(), workers.end(), [&](std::uint32_t index) {
      return threads_[index].last().wait.rule == most->first;
    });
    const Wait& wait = threads_[workers.front()].last().wait;
    const bool starved = wait.standing == Standing::blocked || wait.standing == Standing::calls || grows;
    const std::string all = std::to_string(workers.size());
    Finding out = finding(FindingKind::starved_pool, several_ && starved ? Severity::stuck : Severity::note,
                          starved ? "The thread pool is starved: all of its " + all + " workers are blocked"
                                  : "The thread pool may be starved: all of its " + all + " workers wait");
    out.details.push_back(std::to_string(most->second) + " of them: each " + wait.words + ".");
    out.details.push_back(starved ? "No worker is left for queued work, also not for what they wait for."
                                  : "Whether work is queued is not known: if it is, no worker is left for it.");
    put_threads(out, workers);
    std::ranges::sort(out.behind);
    add(std::move(out));
  }

  // Threads that wait for finalizers, where the finalizer thread is part of another finding.
  void put_behind_finding_of(std::uint32_t finalizer, std::vector<std::uint32_t> waiters) {
    std::erase_if(waiters, [&](std::uint32_t index) { return covered_.contains(index); });
    if (waiters.empty()) return;
    for (Finding& found : findings_) {
      const auto& parts = found.threads;
      if (std::ranges::none_of(parts, [&](const FindingThread& part) { return part.thread == finalizer; }) &&
          std::ranges::find(found.behind, finalizer) == found.behind.end()) {
        continue;
      }
      found.details.push_back("The finalizer thread is one of them, and " + count_words(waiters.size(), "more thread") +
                              (waiters.size() == 1 ? " waits" : " wait") + " for its finalizers.");
      found.behind.insert(found.behind.end(), waiters.begin(), waiters.end());
      std::ranges::sort(found.behind);
      covered_.insert(waiters.begin(), waiters.end());
      return;
    }
  }

  void finalizer() {
    for (const std::uint32_t index : by_place_) {
      const ThreadHistory& history = threads_[index];
      const Standing standing = history.last().wait.standing;
      const bool in_finalizer = std::ranges::any_of(
          thread(history).stack.frames, [](const Frame& frame) { return frame.kind == FrameKind::managed; });
      if (!stands(history) || standing == Standing::idle || !in_finalizer || !is_finalizer(thread(history))) continue;
      std::vector<std::uint32_t> waiters;
      for (const std::uint32_t waiter : by_place_) {
        const bool stuck = !several_ || threads_[waiter].verdict == Verdict::stuck;
        if (stuck && threads_[waiter].last().wait.rule == "finalizers-wait") waiters.push_back(waiter);
      }
      if (covered_.contains(index)) {
        put_behind_finding_of(index, waiters);
        continue;
      }
      Finding out = finding(FindingKind::finalizer, several_ ? Severity::stuck : Severity::note,
                            "The finalizer thread hangs in a finalizer");
      out.details.push_back("No object with a finalizer is freed any more: memory and handles grow.");
      out.threads.push_back(part(index, history.last().wait.words));
      put_threads(out, waiters);
      add(std::move(out));
    }
  }

  // The call out that a thread's wait is below: the first stub from the leaf on.
  const Frame* call_out(const ThreadHistory& history) const {
    for (const Frame& frame : thread(history).stack.frames) {
      if (frame.kind == FrameKind::managed || frame.kind == FrameKind::gap) return nullptr;
      const ClrStub stub = frame.kind == FrameKind::stub ? clr_stub(frame.name) : ClrStub::other;
      if (stub == ClrStub::pinvoke || stub == ClrStub::com_out) return frame.target.empty() ? nullptr : &frame;
    }
    return nullptr;
  }

  // By COM, and that of a certain thread; which one, nobody knows.
  static bool calls_apartment(const ThreadHistory& history) {
    const Wait& wait = history.last().wait;
    return wait.rule == "com-call" && wait.standing == Standing::blocked;
  }

  void common_calls() {
    std::map<std::string, std::vector<std::uint32_t>> calls;
    std::size_t stuck = 0;
    for (const std::uint32_t index : by_place_) {
      if (threads_[index].verdict != Verdict::stuck || covered_.contains(index)) continue;
      ++stuck;
      const Frame* const call = call_out(threads_[index]);
      if (calls_apartment(threads_[index])) {
        calls[std::string(kApartmentCalls)].push_back(index);
      } else if (call != nullptr) {
        calls["the " + short_label(snapshot_, *call)].push_back(index);
      }
    }
    for (auto& [call, threads] : calls) {
      if (threads.size() < kFewestInCall || threads.size() * 2 <= stuck) continue;
      Finding out = finding(FindingKind::common_call, Severity::stuck,
                            count_words(threads.size(), "thread") + " have not come back from " + call);
      if (call == kApartmentCalls) out.details.push_back(std::string(kApartmentHint));
      put_threads(out, threads);
      add(std::move(out));
    }
  }

  void spinning() {
    for (const std::uint32_t index : by_place_) {
      const ThreadHistory& history = threads_[index];
      if (history.verdict != Verdict::spinning) continue;
      Finding out = finding(FindingKind::spinning, Severity::note,
                            "A thread runs all the time in the same function: " +
                                thread_words(thread(history)));
      out.threads.push_back(part(index, state_words(history)));
      add(std::move(out));
    }
  }

  void stuck_groups() {
    std::map<std::pair<std::string_view, std::vector<std::string>>, std::vector<std::uint32_t>> groups;
    for (const std::uint32_t index : by_place_) {
      const ThreadHistory& history = threads_[index];
      if (history.verdict != Verdict::stuck || covered_.contains(index)) continue;
      std::vector<std::string> stack;
      for (const Frame& frame : thread(history).stack.frames) {
        if (frame.kind != FrameKind::native) stack.push_back(frame.name + frame.target);
      }
      groups[{history.last().wait.rule, std::move(stack)}].push_back(index);
    }
    std::vector<std::vector<std::uint32_t>> ordered;
    for (auto& [key, threads] : groups) ordered.push_back(std::move(threads));
    std::ranges::stable_sort(ordered, [](const auto& a, const auto& b) {
      return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
    });
    for (const auto& threads : ordered) {
      Finding out = finding(FindingKind::stuck, Severity::stuck,
                            threads.size() == 1
                                ? "T" + thread_words(thread(threads_[threads.front()])).substr(1) + " is stuck"
                                : count_words(threads.size(), "thread") + " are stuck in the same stack");
      if (calls_apartment(threads_[threads.front()])) out.details.push_back(std::string(kApartmentHint));
      put_threads(out, threads);
      add(std::move(out));
    }
  }

  std::uint32_t dump_, first_dump_;
  bool several_;
  const Snapshot& snapshot_;
  std::vector<ThreadHistory>& threads_;
  std::vector<std::uint32_t> by_place_;  // index into threads_, by place in snapshot_.threads
  std::set<std::uint32_t> covered_;      // threads that a finding has explained
  std::vector<Finding> findings_;
};

}  // namespace

Findings find_hangs(std::span<const Snapshot> dumps, std::span<const std::string> files) {
  Findings out;
  const std::vector<std::uint32_t> processes = same_processes(dumps);
  std::vector<std::vector<std::vector<std::uint64_t>>> functions;
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    functions.push_back(function_ids(dumps[i]));
    out.dumps.push_back({i < files.size() ? files[i] : std::string(), dumps[i].unix_time_ms, processes[i],
                         static_cast<std::uint32_t>(dumps[i].threads.size())});
  }
  const std::uint32_t count = processes.empty() ? 0 : *std::ranges::max_element(processes) + 1;
  for (std::uint32_t process = 0; process < count; ++process) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < processes.size(); ++i) {
      if (processes[i] == process) numbers.push_back(i);
    }
    const auto first = static_cast<std::uint32_t>(out.threads.size());
    std::ranges::move(match_threads(dumps, numbers, functions), std::back_inserter(out.threads));
    std::ranges::move(ProcessFindings(dumps, numbers, out.threads, first).find(), std::back_inserter(out.findings));
    add_finding_gaps(dumps[numbers.back()], numbers.back(), std::span(out.threads).subspan(first), out.gaps);
  }
  std::ranges::stable_sort(out.findings, [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity < b.severity : a.kind < b.kind;
  });
  out.groups = stack_groups(out.threads, functions);
  if (!dumps.empty()) out.tree = parallel_stacks(dumps.back(), functions.back());
  return out;
}

Severity severity(const Findings& findings) {
  return findings.findings.empty() ? Severity::note : findings.findings.front().severity;
}

std::string headline(const Findings& findings) {
  std::set<std::uint32_t> deadlocked, stuck;
  for (const Finding& finding : findings.findings) {
    if (finding.severity == Severity::note) continue;
    for (const FindingThread& part : finding.threads) {
      const bool holder_goes_on = findings.threads[part.thread].verdict == Verdict::spinning;
      if (!holder_goes_on) (finding.severity == Severity::deadlock ? deadlocked : stuck).insert(part.thread);
    }
    stuck.insert(finding.behind.begin(), finding.behind.end());
  }
  for (const std::uint32_t thread : deadlocked) stuck.erase(thread);
  const auto are = [](std::size_t count) { return count == 1 ? " is " : " are "; };
  if (!deadlocked.empty()) {
    std::string text = count_words(deadlocked.size(), "thread") + are(deadlocked.size()) + "deadlocked";
    if (!stuck.empty()) text += ", and " + std::to_string(stuck.size()) + " more" + are(stuck.size()) + "stuck";
    return text;
  }
  if (!stuck.empty()) return count_words(stuck.size(), "thread") + are(stuck.size()) + "stuck";
  const bool several = std::ranges::any_of(
      findings.threads, [](const ThreadHistory& thread) { return thread.verdict != Verdict::once; });
  return several ? "nothing is stuck" : "no deadlock is seen; what is stuck shows in two or more dumps only";
}

}  // namespace mixwalk
