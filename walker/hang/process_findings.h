#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "walker/hang/findings.h"
#include "walker/hang/wait_chains.h"

namespace mixwalk {

struct FindingText;
struct PoolNumbers;

// Whether a thread that others wait for makes progress.
enum class Progress : std::uint8_t { no, yes, unclear };

// The input of the search for findings in one process, and the findings so far. The findings are those of the process's
// last dump. Refers to the dumps and the histories.
struct ProcessFindings {
  static constexpr std::uint32_t kNoThread = 0xFFFF'FFFF;

  // `numbers`: the process's dumps, as indices into `dumps`. `histories`: the histories of the process's threads begin
  // at `first_thread`. `functions`: function_ids() of each of `dumps`.
  ProcessFindings(std::span<const Snapshot> dumps, std::span<const std::uint32_t> numbers,
                  std::vector<ThreadHistory>& histories, std::uint32_t first_thread,
                  std::span<const std::vector<std::vector<std::uint64_t>>> functions);

  // `place`: index in Snapshot::threads.
  const ThreadHistory& history(std::uint32_t place) const { return threads[by_place[place]]; }
  const Thread& thread(const ThreadHistory& history) const { return snapshot.threads[history.last().thread]; }

  // Whether the thread is stuck, or may be stuck if there is only one dump.
  bool is_stuck(const ThreadHistory& history) const { return !several || history.verdict == Verdict::stuck; }
  // Whether the thread is not running, by its verdict, or in a single dump by its wait.
  bool does_not_run(const ThreadHistory& history) const;

  // Whether the thread sleeps in its last dump, as a holder of a lock may do. A sleep ends by itself, also below native
  // code of the program. A thread that spins, and only gives up the rest of its time by Sleep(0), does not sleep.
  bool sleeps(const ThreadHistory& history) const;

  // Whether the thread has come back to the wait in which it was before, or has never left it, because it looks again
  // and again whether it may go on.
  bool polls(const ThreadHistory& history) const;

  // The rule for all threads that others wait for. `index`: index into `threads`.
  Progress progress(std::uint32_t index) const;
  // Finds out for each thread that waits for a task whether what ends the task makes progress. progress() knows it from
  // then on.
  void follow_tasks(const GraphChains& waits);

  // To be called if the thread waits for something that makes progress, so that it is not stuck. Its verdict says so
  // from then on.
  void mark_progressing(std::uint32_t index);
  // Sets ThreadHistory::since, and the times that begin there. `since`: a dump that contains the thread.
  void set_since(ThreadHistory& history, std::uint32_t since) const;

  // `index`: index into `threads`.
  FindingThread part(std::uint32_t index, std::string words) const;
  Finding finding(FindingKind kind, Severity severity, FindingText text) const;
  // Adds threads, by their indices, each with what it waits for. Threads beyond the limit are added to Finding::behind.
  void put_threads(Finding& finding, const std::vector<std::uint32_t>& indices) const;
  // Adds the finding. From then on its threads are covered, but a note does not cover stuck threads.
  void add(Finding finding);
  // What is known of each thread of the last dump apart from the graph, by its index in Snapshot::threads.
  std::vector<Outlook> outlooks() const;
  static bool waits_for_constructor(const ThreadHistory& history);
  // Whether the lock for which the thread waits is that of a static constructor. The runtime runs a static constructor
  // under a lock of its own. This lock is a critical section.
  bool is_constructor_lock(const WaitLink& link) const;
  // The waiting thread of a link in a finding, with the words for what it waits.
  FindingThread waiter(const GraphChains& waits, const WaitLink& link) const;
  // Whether the owner of the link holds the link's lock itself, and not through a task that it has to run.
  bool holds_it_itself(const GraphChains& waits, const WaitLink& link) const;
  // Gives the verdict stuck to the threads of findings about stuck threads, whatever they wait for, except to threads
  // that spin. After that, lists and headlines count the same threads.
  void settle_verdicts();

  std::uint32_t dump;  // index of the process's last dump
  bool several;  // whether the process has several dumps
  const std::span<const Snapshot> dumps;
  const std::span<const std::uint32_t> numbers;  // the process's dumps, ascending
  const std::span<const std::vector<std::vector<std::uint64_t>>> functions;  // by dump, thread and frame
  const Snapshot& snapshot;
  const WaitGraph graph;  // of the last dump
  std::vector<ThreadHistory>& threads;
  std::vector<std::uint32_t> own_threads;  // the process's threads of all dumps, as indices into `threads`
  std::vector<std::uint32_t> by_place;  // for each index in snapshot.threads, the index into `threads`
  std::set<std::uint32_t> covered;      // threads that a finding has explained
  std::set<std::uint32_t> progressing;  // threads that mark_progressing() was called for
  std::vector<Progress> task_progress;  // by place: whether the task for which the thread waits makes progress
  std::vector<Finding> findings;
};

// The searches for findings, in this order. A later one leaves out threads that an earlier one has explained.
// find_crash() finds the crash because of which the dump was written.
void find_crash(ProcessFindings& process);
// find_locks() finds deadlocks, chains of threads that wait for each other, and static constructors that never end.
void find_locks(ProcessFindings& process);
// The part of find_locks() about one deadlock.
void find_deadlock(ProcessFindings& process, const GraphChains& waits, const WaitChain& chain);
// The part of find_locks() about circles that are no deadlock if a semaphore has other holders than those that are
// known.
void find_unclear_circles(ProcessFindings& process);
// find_tasks() finds tasks of which it is not proven what ends them, and the output of processes that have ended.
void find_tasks(ProcessFindings& process);
// Finds a starved pool, what the finalizer thread hangs in, a call that most threads have in common, threads that spin,
// and then the remaining stuck threads.
void find_threads(ProcessFindings& process);
// The part of find_threads() about the thread pool.
void find_starved_pool(ProcessFindings& process);
// What is known of the queue of the pool, and how many workers wait for it.
PoolNumbers pool_numbers(const ProcessFindings& process, const GraphChains& waits);
// The part of find_threads() about the finalizer thread, which may hang in a finalizer, in the release of an object of
// COM, or in a handler of ProcessExit.
void find_finalizer(ProcessFindings& process);

}  // namespace mixwalk
