#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbols/assembly.h"
#include "unmanaged/image/debug_directory.h"
#include "walker/model/lock.h"
#include "walker/model/stack.h"
#include "walker/suspended/probe.h"

namespace mixwalk {

// An image that a frame stands in, or could have stood in.
struct Module {
  std::uint64_t base = 0;
  std::uint32_t size = 0;       // bytes, SizeOfImage
  std::uint32_t timestamp = 0;  // IMAGE_FILE_HEADER.TimeDateStamp
  std::string path;             // UTF-8, as the target's loader knows it
  // Which build the image is, by its file; nothing if it has no CodeView entry, or the file could not be read.
  std::optional<CodeViewId> code_view = std::nullopt;

  bool operator==(const Module&) const = default;
};

// The circuit breaker of DoStackSnapshot, at the end of a visit.
struct BreakerState {
  std::uint32_t threads_off = 0;  // threads that are only walked from the copy from now on
  bool process_off = false;       // all threads are
  bool operator==(const BreakerState&) const = default;
};

struct Thread {
  std::uint32_t os_id = 0;
  std::uint64_t clr_id = 0;  // the CLR's ThreadID; 0 if the thread never ran managed code
  std::string name;          // UTF-8; empty if none
  Stack stack;
  std::string skipped;  // why there is no stack ("ended", "no access"), else empty
  // How long the system took to stop the thread, and how long the thread was frozen then.
  std::uint64_t stopping_ns = 0, frozen_ns = 0;
  ProbeResult probe = ProbeResult::none;
  bool overdue = false;   // the supervisor ended the freeze
  bool walk_off = false;  // the circuit breaker kept DoStackSnapshot off
  bool at_risk = false;   // it stood where it may hold a lock of the runtime, which was not asked
  bool copy_cut = false;  // the stack was larger than the copy, or not all of it could be read
  // The index in Snapshot::moments of the moment at which the thread was frozen, counted from 1; 0 if it was frozen
  // alone.
  std::uint32_t moment = 0;
  // When the thread began, in units of 100 ns since 1601 (FILETIME); 0 if unknown.
  std::uint64_t created = 0;
  // The processor time that it had used until then, kernel and user, in units of 100 ns; nothing if unknown.
  std::optional<std::uint64_t> cpu = std::nullopt;

  // Includes an earlier freeze for the same stack: the longer time counts, and it is overdue if one of them was.
  void add_freeze(const Thread& before) {
    stopping_ns = std::max(stopping_ns, before.stopping_ns);
    frozen_ns = std::max(frozen_ns, before.frozen_ns);
    overdue = overdue || before.overdue;
  }
  bool operator==(const Thread&) const = default;
};

struct Process {
  std::uint32_t id = 0;
  std::string path;          // UTF-8, the main image
  std::string command_line;  // UTF-8; empty if unknown

  bool operator==(const Process&) const = default;
};

struct Runtime {
  std::string name;  // ".NET" or ".NET Framework"
  std::uint16_t major = 0, minor = 0, build = 0, revision = 0;

  bool operator==(const Runtime&) const = default;
};

// Threads that were frozen together, and copied before the first of them ran again.
struct Moment {
  // From before the first of them was suspended until the last one ran again.
  std::uint64_t frozen_ns = 0;

  bool operator==(const Moment&) const = default;
};

// What a dump lacks. Frames are left out of documents that are written with a filter; a .mixwalk file has all of them.
struct LeftOut {
  bool native_frames = false;
  std::uint32_t frames_beyond = 0;  // of each stack; 0 if none
  bool threads = false;             // all but those that --thread names

  bool operator==(const LeftOut&) const = default;
};

// From where a process was looked at.
enum class Way : std::uint8_t {
  inside,   // by mixwalk.dll in the process
  outside,  // the process was only read
  file,     // a dump file was read
};

// The stacks of one process: of the listed moments, or of threads that were frozen one after the other.
struct Snapshot {
  std::string tool_version;
  std::uint64_t unix_time_ms = 0;
  Process process;
  Runtime runtime;
  Engine engine = Engine::snapshot;  // the one asked for
  std::vector<Module> modules;       // sorted by base
  std::vector<Assembly> assemblies;  // those that managed frames are of
  std::vector<Thread> threads;       // by OS id
  BreakerState breaker;
  std::vector<Moment> moments;  // empty if each thread was frozen by itself
  Way way = Way::inside;
  std::string way_reason;  // why from outside, where that was not asked for; else empty
  // For dumps from outside and of files: why the runtime could not be asked about managed code, or not about all of it;
  // empty if it was asked, or there is no runtime.
  std::string unasked;
  // Locks that are held or waited for, by kind and address.
  std::vector<Lock> locks;
  // Why `locks` may be incomplete: they were not looked for, or not all could be read; empty if all that can be known
  // are there.
  std::string locks_missing;
  LeftOut left_out;

  bool operator==(const Snapshot&) const = default;
};

// The file name of a module's path, either separator. Empty path: empty.
std::string module_name(const Module& module);

}  // namespace mixwalk
