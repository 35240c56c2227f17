#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "walker/hang/findings.h"

namespace mixwalk {

// The input of the search for findings in one process, and the findings so far. Findings are those of its last dump.
// Refers to the dumps and the histories.
struct ProcessFindings {
  static constexpr std::uint32_t kNoThread = 0xFFFF'FFFF;

  // `numbers`: indices into `dumps`, those of the process. `histories`: its own ones begin at `first_thread`.
  ProcessFindings(std::span<const Snapshot> dumps, std::span<const std::uint32_t> numbers,
                  std::vector<ThreadHistory>& histories, std::uint32_t first_thread);

  // `place`: in Snapshot::threads.
  const ThreadHistory& history(std::uint32_t place) const { return threads[by_place[place]]; }
  const Thread& thread(const ThreadHistory& history) const { return snapshot.threads[history.last().thread]; }

  // Of one dump: it may be.
  bool is_stuck(const ThreadHistory& history) const { return !several || history.verdict == Verdict::stuck; }
  // By its verdict, or in a single dump by its wait, the thread is not running.
  bool does_not_run(const ThreadHistory& history) const;

  // The thread waits for something that makes progress: it is not stuck, and its verdict says so from then on.
  void mark_progressing(std::uint32_t index);
  // The thread has been stuck only from that dump on: moves ThreadHistory::since there, if that is later.
  void set_stuck_since(ThreadHistory& history, std::uint32_t since) const;

  // `index`: into threads.
  FindingThread part(std::uint32_t index, std::string words) const;
  Finding finding(FindingKind kind, Severity severity, std::string title) const;
  // Adds threads, by their indices, each with what it waits for; threads beyond the limit are added to Finding::behind.
  void put_threads(Finding& finding, const std::vector<std::uint32_t>& indices) const;
  // From then on its threads are covered; stuck ones not by a note.
  void add(Finding finding);
  // The threads of findings of what is stuck are stuck, whatever they wait for; but for those that run. With that, lists
  // and headlines count the same threads.
  void settle_verdicts();

  std::uint32_t dump;  // the last one of it
  bool several;  // there are several dumps of it
  const std::span<const Snapshot> dumps;
  const std::span<const std::uint32_t> numbers;  // its dumps, ascending
  const Snapshot& snapshot;
  std::vector<ThreadHistory>& threads;
  std::vector<std::uint32_t> by_place;  // index into threads, by place in snapshot.threads
  std::set<std::uint32_t> covered;      // threads that a finding has explained
  std::set<std::uint32_t> progressing;  // threads of mark_progressing()
  std::vector<Finding> findings;
};

// The searches for findings, in this order: a later one leaves out threads that an earlier one has explained. This one
// finds deadlocks, chains of locks, and static constructors that never end.
void find_locks(ProcessFindings& process);
// Finds a starved pool, a hanging finalizer, a call that most threads have in common, threads that spin, and then the
// stuck threads that are left.
void find_threads(ProcessFindings& process);

}  // namespace mixwalk
