#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "walker/model/snapshot.h"
#include "walker/outside/target.h"
#include "walker/suspended/thread_control.h"

namespace mixwalk {

// The frame in which a thread waits for a native lock.
struct NativeWait {
  LockKind kind = LockKind::critical_section;
  std::uint64_t end = 0;  // address behind the part of the stack that knows the lock
};
// By the names of the first frames: RtlEnterCriticalSection, RtlAcquireSRWLockExclusive and the like in ntdll.dll.
// Nothing: the thread waits in none of them. `snapshot` has been symbolised.
std::optional<NativeWait> native_wait_of(const Snapshot& snapshot, const Thread& thread);

// The CRITICAL_SECTION that one of these words leads to: held by another thread than `waiter`, and waited for, by its
// fields as Windows and Wine keep them. `threads`: the sorted ids of those that live; the owner is 0 where it is none of
// them, which is believed only of a section with debug information. Nothing: no word leads to such a section, or more
// than one does.
// (Microsoft Learn, "Displaying a Critical Section"; winnt.h: RTL_CRITICAL_SECTION.)
std::optional<Lock> awaited_section(const MemoryReader& memory, std::span<const std::uint64_t> words,
                                    std::uint32_t waiter, std::span<const std::uint32_t> threads);
// The SRWLOCK that one of these words leads to: held, and with a list of waiting threads that begins on one of the stacks,
// as Windows keeps it. Nothing: as above; also under Wine, whose locks have nothing that they could be known by.
std::optional<Lock> awaited_srw_lock(const MemoryReader& memory, std::span<const std::uint64_t> words,
                                     std::span<const StackLimits> stacks);

// What was read of a lock while a thread stood that waits for it.
struct LockReading {
  Lock lock;
  std::uint32_t waiter = 0;  // a thread's id
};
// The locks of these readings by their addresses, each with all that wait for it. A lock with two owners was read at two
// moments and has changed hands in between: it is left out.
std::vector<Lock> agreed(std::span<const LockReading> readings);

// Whether add_native_locks() would look at any thread.
bool has_native_waits(const Snapshot& snapshot);

// Adds the critical sections and SRW locks that threads of a symbolised snapshot wait for. Each such thread is captured
// again, before and after its lock is read: only what belongs to a thread that stood still all the time is added. Not
// frozen-safe.
void add_native_locks(Snapshot& snapshot, Target& target);

}  // namespace mixwalk
