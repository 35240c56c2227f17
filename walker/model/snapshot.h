#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "walker/model/stack.h"

namespace mixwalk {

// An image that a frame stands in, or could have stood in.
struct Module {
  std::uint64_t base = 0;
  std::uint32_t size = 0;       // bytes, SizeOfImage
  std::uint32_t timestamp = 0;  // IMAGE_FILE_HEADER.TimeDateStamp
  std::string path;             // UTF-8, as the target's loader knows it

  bool operator==(const Module&) const = default;
};

struct Thread {
  std::uint32_t os_id = 0;
  std::uint64_t clr_id = 0;  // the CLR's ThreadID; 0: the thread never ran managed code
  std::string name;          // UTF-8; empty: none
  Stack stack;
  std::string skipped;  // why there is no stack ("ended", "no access"), else empty
  std::uint64_t frozen_ns = 0;

  bool operator==(const Thread&) const = default;
};

struct Process {
  std::uint32_t id = 0;
  std::string path;          // UTF-8, the main image
  std::string command_line;  // UTF-8; empty: unknown

  bool operator==(const Process&) const = default;
};

struct Runtime {
  std::string name;  // ".NET" or ".NET Framework"
  std::uint16_t major = 0, minor = 0, build = 0, revision = 0;

  bool operator==(const Runtime&) const = default;
};

// The stacks of one process at (nearly) one moment: each thread is frozen by itself, in turn.
struct Snapshot {
  std::string tool_version;
  std::uint64_t unix_time_ms = 0;
  Process process;
  Runtime runtime;
  Engine engine = Engine::snapshot;  // the one asked for
  std::vector<Module> modules;       // sorted by base
  std::vector<Thread> threads;       // by OS id

  bool operator==(const Snapshot&) const = default;
};

// The file name of a module's path, either separator. Empty path: empty.
std::string module_name(const Module& module);

}  // namespace mixwalk
