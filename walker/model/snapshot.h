#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbols/assembly.h"
#include "unmanaged/image/debug_directory.h"
#include "walker/model/async.h"
#include "walker/model/call_agreement.h"
#include "walker/model/crash.h"
#include "walker/model/lock.h"
#include "walker/model/runtime_source.h"
#include "walker/model/stack.h"
#include "walker/suspended/probe.h"

namespace mixwalk {

// An image that a frame is in, or could have been in.
struct Module {
  std::uint64_t base = 0;
  std::uint32_t size = 0;       // bytes, SizeOfImage
  std::uint32_t timestamp = 0;  // IMAGE_FILE_HEADER.TimeDateStamp
  std::string path;             // UTF-8, as the target's loader knows it
  // The build of the image, read from its file. Has no value if the image has no CodeView entry, or if the file could
  // not be read.
  std::optional<CodeViewId> code_view = std::nullopt;

  bool operator==(const Module&) const = default;
};

// The circuit breaker of DoStackSnapshot, at the end of a visit.
struct BreakerState {
  std::uint32_t threads_off = 0;  // threads that from now on are only walked from the copy
  bool process_off = false;       // all threads are only walked from the copy
  bool operator==(const BreakerState&) const = default;
};

// What a thread is, proven by the runtime's data and by its stack; false if unknown.
struct ThreadTraits {
  bool main = false;    // the program's first thread
  bool pool = false;    // a worker of the thread pool of .NET
  bool sta = false;     // in a single-threaded apartment of COM
  bool mta = false;     // in the multi-threaded apartment, explicitly
  bool pumps = false;   // serves a SynchronizationContext of a user interface (AsyncContext::thread): a UI thread
  // How long the thread waits for a lock, a task or another thread, as it has told the system: it gives up after a
  // time, or it waits without a limit and cannot be cancelled.
  bool limited = false, unlimited = false;
  bool operator==(const ThreadTraits&) const = default;
};

struct Thread {
  std::uint32_t os_id = 0;
  std::uint64_t clr_id = 0;  // the CLR's ThreadID; 0 if the thread never ran managed code
  std::string name;          // UTF-8; empty if none
  Stack stack;
  std::string skipped;  // why there is no stack ("ended", "no access"), else empty
  // stopping_ns: how long the system took to stop the thread. frozen_ns: how long the thread was frozen after that.
  std::uint64_t stopping_ns = 0, frozen_ns = 0;
  ProbeResult probe = ProbeResult::none;
  bool overdue = false;   // the supervisor ended the freeze
  bool walk_off = false;  // the circuit breaker kept DoStackSnapshot off
  bool at_risk = false;   // it was in code that may hold a lock of the runtime, so the runtime was not asked
  bool copy_cut = false;  // the stack was larger than the copy, or not all of it could be read
  // The index in Snapshot::moments of the moment at which the thread was frozen, counted from 1; 0 if it was frozen by
  // itself.
  std::uint32_t moment = 0;
  // When the thread began, in units of 100 ns since 1601 (FILETIME); 0 if unknown.
  std::uint64_t created = 0;
  // The processor time that the thread had used up to the dump, kernel and user, in units of 100 ns. Has no value if
  // unknown.
  std::optional<std::uint64_t> cpu = std::nullopt;
  // The task for whose end the thread waits (Task.Wait, .Result), an index into Snapshot::tasks; AsyncTask::kNone if it
  // waits for none, or if it is not known for which.
  std::uint32_t waits_for_task = AsyncTask::kNone;
  // How far the queue of the BlockingCollection in which the thread waits has moved: a number that differs after each
  // item that is taken from it. 0 if the thread waits in none, or if the number is not known.
  std::uint64_t queue_position = 0;
  // How the thread belongs to the process, as the runtime knows it.
  ThreadTraits traits = {};
  // The exceptions that it handles, innermost first, except that of Snapshot::crash. Known of .NET 9 and later only.
  std::vector<HandledException> handles = {};

  // Adds an earlier freeze for the same stack: the longer times count, and the freeze is overdue if one of the two was.
  void add_freeze(const Thread& before) {
    stopping_ns = std::max(stopping_ns, before.stopping_ns);
    frozen_ns = std::max(frozen_ns, before.frozen_ns);
    overdue = overdue || before.overdue;
  }
  bool operator==(const Thread&) const = default;
};

struct Process {
  std::uint32_t id = 0;
  std::string path;          // UTF-8, of the main image
  std::string command_line;  // UTF-8; empty if unknown
  std::string host = {};     // UTF-8, the name of its machine; empty if unknown, or if it is not to be written

  bool operator==(const Process&) const = default;
};

struct Runtime {
  std::string name;  // ".NET" or ".NET Framework"
  std::uint16_t major = 0, minor = 0, build = 0, revision = 0;

  bool operator==(const Runtime&) const = default;
};

// Threads that were frozen together, and copied before the first of them ran again.
struct Moment {
  // The time from before the first of them was suspended until the last one ran again.
  std::uint64_t frozen_ns = 0;

  bool operator==(const Moment&) const = default;
};

// The parts left out of a dump. Frames are left out of documents that are written with a filter; a .mixwalk file has
// all of them.
struct Omissions {
  bool native_frames = false;
  std::uint32_t frames_beyond = 0;  // as many frames of each stack are kept at most; 0 if all are kept
  bool threads = false;             // all threads except those that --thread names

  bool operator==(const Omissions&) const = default;
};

// How the process was read.
enum class CaptureMethod : std::uint8_t {
  inside,   // by mixwalk.dll in the process
  outside,  // from outside, only by reading the process
  file,     // from a dump file
};

// The stacks of one process, at the listed moments, or of threads that were frozen one after the other.
struct Snapshot {
  std::string tool_version;
  std::uint64_t unix_time_ms = 0;
  Process process;
  Runtime runtime;
  Engine engine = Engine::snapshot;  // the engine that was asked for
  std::vector<Module> modules;       // sorted by base
  std::vector<Assembly> assemblies;  // the assemblies of managed frames
  std::vector<Thread> threads;       // sorted by OS id
  BreakerState breaker;
  std::vector<Moment> moments;  // empty if each thread was frozen by itself
  CaptureMethod capture = CaptureMethod::inside;
  std::string capture_reason;  // why the process was read from outside if nobody asked for that; else empty
  // For dumps from outside and of files: why the runtime could not be asked about managed code, or not about all of it.
  // Empty if it was asked, or if there is no runtime.
  std::string unasked;
  // What has answered the questions about managed code from outside: in dumps from inside, those about locks. No
  // .mixwalk file keeps it.
  RuntimeAnswers answers = {};
  // Locks that are held or waited for, sorted by kind and address.
  std::vector<Lock> locks;
  // Why `locks` may be incomplete: they were not looked for, or not all could be read. Empty if `locks` has all that
  // can be known.
  std::string locks_missing;
  // The tasks that threads wait for, directly or through other tasks, and with `dump --async` those of the heap; the
  // contexts to which their continuations go, and the thread pool.
  std::vector<AsyncTask> tasks = {};  // sorted by address
  std::vector<AsyncContext> contexts = {};
  ThreadPoolState pool = {};
  // Why `tasks` may be incomplete, in one line: they were not looked for, or not all could be read. Empty if they have
  // all that was asked for.
  std::string tasks_missing = {};
  Omissions omissions;
  // Of a dump file that was written because of an exception.
  std::optional<Crash> crash = std::nullopt;
  // Of a walk from outside or of a dump file. No file keeps it.
  CallAgreement calls = {};

  bool operator==(const Snapshot&) const = default;
};

// The file name in a module's path. The path may have either separator. Returns an empty text for an empty path.
std::string module_name(const Module& module);

}  // namespace mixwalk
