#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "walker/hang/groups.h"
#include "walker/hang/history.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The findings that a person should look at, as values. A renderer needs these values and the dumps from which they
// were made, because indices refer to the dumps, and names are in `Snapshot`. Texts are for people, in English. The
// target's names in them may contain anything, so the code that prints the texts must make them printable.

enum class FindingKind : std::uint8_t {
  deadlock,      // threads that wait for each other's locks in a circle, without tasks
  chain,         // threads that wait for a lock, and its holder, which does not go on
  class_constructor,  // threads that wait for a static constructor, and the thread that runs it and does not go on
  starved_pool,  // all workers of the thread pool are blocked by the same kind of wait
  finalizer,     // the finalizer thread is stuck in a finalizer: objects with finalizers are not freed any more
  exit,          // a handler of ProcessExit, which does not return, so the program does not end
  common_call,   // one call out to native code or COM in which most stuck threads are
  spinning,      // a thread that ran nearly all the time and did not leave its function
  stuck,         // threads that are where they were before, in the same stack
  contended,     // a lock that threads wait for, although its holder goes on
  crash,         // the exception because of which the dump was written
  context_deadlock,  // a circle of waits in which a continuation waits for a thread that serves its context
  async_cycle,       // any other circle of waits in which tasks are
  process_output,    // threads that wait for the output of a process that has ended
  unclear_task,      // threads that wait for a task, and it is not proven what ends it
};

// The weight of a finding for the exit code and the headline.
enum class Severity : std::uint8_t {
  crash,     // exit code 22
  deadlock,  // exit code 21
  stuck,     // exit code 20
  note,      // worth a look, but no proof that something is stuck
};

// A thread's role in a finding.
struct FindingThread {
  std::uint32_t thread = 0;       // index into Findings::threads
  std::uint32_t dump = 0;         // index into the dumps: the dump in which the finding shows the thread
  std::uint32_t frame = kNoFrame; // index into Stack::frames: shown first; a frame of the program, or of the wait
  // What the thread does in the finding: "waits for the monitor 0x1234 (System.Object), held by thread 0x2c "b"".
  std::string words;
  // Indices into Snapshot::locks of that dump; kNoLock if there is none.
  static constexpr std::uint32_t kNoLock = 0xFFFF'FFFF;
  std::uint32_t waits_for = kNoLock;
  std::vector<std::uint32_t> holds;  // only the locks that matter here

  bool operator==(const FindingThread&) const = default;
};

struct Finding {
  FindingKind kind = FindingKind::stuck;
  Severity severity = Severity::note;
  std::string title;                   // one line: "Deadlock of 2 threads"
  std::vector<std::string> details;    // further lines: what the finding means, since when
  std::vector<FindingThread> threads;  // the most important thread first; of a deadlock in the order of the circle
  // Threads that wait behind `threads`, as indices into Findings::threads.
  std::vector<std::uint32_t> behind;
  std::uint32_t since = 0;             // index into the dumps: the first one with this finding

  bool operator==(const Finding&) const = default;
};

// One dump, as it was named on the command line.
struct DumpInfo {
  std::string file;                // as the user gave it
  std::uint64_t unix_time_ms = 0;  // 0 if unknown
  std::uint32_t process = 0;       // dumps with the same number are of the same process
  std::uint32_t threads = 0;

  bool operator==(const DumpInfo&) const = default;
};

struct Findings {
  std::vector<DumpInfo> dumps;         // for the given dumps, in their order
  std::vector<ThreadHistory> threads;  // the threads of all dumps, by OS id
  // The most severe first. Of those of a kind, that of the main thread comes first, then the one with most threads.
  std::vector<Finding> findings;
  std::vector<StackGroup> groups;      // each thread is in one of them
  std::vector<TreeNode> tree;          // of the last dump
  bool frames_missing = false;         // a dump lacks frames, so threads may be stuck that are not found to be
  // The facts that are not known, a line each: "locks are not known: …", "processor times are not known".
  std::vector<std::string> gaps;

  bool operator==(const Findings&) const = default;
};

// "thread 0x2c crashed in orders.dll!parse: access violation (0xc0000005)".
// "2 threads are deadlocked", "3 threads are stuck", "nothing is stuck"; for one dump "no deadlock is seen; …"; if
// frames are missing "nothing is known to be stuck". It counts the threads of `threads` that have the verdict stuck.
std::string headline(const Findings& findings);

// The highest severity of all findings.
Severity severity(const Findings& findings);

// Compares dumps, in the order of time. There may be one or more of one process, or dumps of several processes.
// `files`: one DumpInfo::file for each dump. Pure. Linear in the number of frames, and in threads times dumps.
Findings find_hangs(std::span<const Snapshot> dumps, std::span<const std::string> files);

}  // namespace mixwalk
