#pragma once

#include <cstddef>
#include <cstdint>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Guards against faults without __try, which this compiler lacks: while one of these lives, a
// vectored handler turns an access violation inside guarded_copy or guarded_call into "false".
// Not frozen-safe to make or end; one for the process is enough (they count).
//
// A handler sees faults of every thread of the process, and leaves all that are not ours alone.
class FaultGuard {
 public:
  FaultGuard() noexcept;
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;
};

// Copies this process's own memory; false where any of it is not readable (part of `to` may then
// have been written). Frozen-safe as long as nothing faults: a fault goes through the system's list
// of vectored handlers, whose lock the frozen thread may hold, until the supervisor resumes it. So
// under a freeze it reads only what should be there. Any number of threads.
bool guarded_copy(void* to, std::uint64_t from, std::size_t bytes) noexcept;

// Calls function(argument); false where it faulted on this thread. The call is abandoned on the
// spot, as by longjmp: no destructors run, so it may hold no lock and own nothing. Not
// frozen-safe: a thread's first call may allocate room for its TLS slot.
bool guarded_call(void (*function)(void*), void* argument) noexcept;

// This process's own memory.
class GuardedReader final : public MemoryReader {
 public:
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    return guarded_copy(into, address, bytes);
  }
};

}  // namespace mixwalk
