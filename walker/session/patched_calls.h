#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// A system call of a process on which a freeze inside that process depends, and whose stub in ntdll.dll was
// overwritten. Not frozen-safe.
//
// Folklore: security software overwrites the begin of some stubs by a jump into a DLL of its own, in every process
// (github.com/Mr-Un1k0d3r/EDRs lists the calls of each product). Situation: that DLL allocates memory or takes a lock,
// and the thread that mixwalk.dll has frozen holds that lock. The agent then waits inside its system call, and the
// supervisor waits in the same place inside its ResumeThread, so no thread of the target can end the freeze. Real case:
// fixtures/native/patched_calls.cpp, which does what is known of such products; no product was tried. Remedy:
// mixwalk.exe, which the patches of the target cannot stop, undoes the suspension soon (TargetWatch), and `dump` reads
// such a process from outside. Test: lock_holder_test, PatchedCalls.
struct PatchedCall {
  std::string name;   // "NtResumeThread"
  std::string image;  // the path of the image to which the stub leads, UTF-8; empty if it is not known

  bool operator==(const PatchedCall&) const = default;
};

// Where the system calls of a process are.
struct CallPlaces {
  // Returns the address of the stub with this name, or 0 if there is none.
  std::function<std::uint64_t(const char*)> stub_of;
  // Returns the path of the image that contains an address of the process, or an empty text.
  std::function<std::string(std::uint64_t)> image_at;
};

// Returns the patched calls of a process. A stub that cannot be read does not count as patched. Nothing that is read is
// trusted.
std::vector<PatchedCall> find_patched_calls(const MemoryReader& memory, const CallPlaces& places);

// Returns "other software has patched system calls of the process: NtGetContextThread and NtResumeThread lead to
// C:\Program Files\Watcher\watcher.dll", which can be printed: the target may name any path. If `calls` is empty, the
// part from the colon on is missing.
std::string patched_calls_text(std::span<const PatchedCall> calls);

}  // namespace mixwalk
