#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "walker/model/snapshot.h"
#include "walker/suspended/thread_control.h"
#include "walker/target/target.h"

namespace mixwalk {

// The frame in which a thread waits for a native lock.
struct NativeWait {
  LockKind kind = LockKind::critical_section;
  std::uint64_t end = 0;  // end address of the part of the stack that contains the lock's address
  // Whether a function of the loader waits by other means. Then the stack does not contain the lock's address.
  bool loader = false;
};
// Finds the frame by the names of the first frames: RtlEnterCriticalSection, RtlAcquireSRWLockExclusive and similar
// functions of ntdll.dll, and those of the loader (LdrLoadDll). Returns nothing if the thread waits in none of them.
// `snapshot` must be symbolised.
std::optional<NativeWait> native_wait_of(const Snapshot& snapshot, const Thread& thread);

// The CRITICAL_SECTION to which one of these words points. By its fields, in the layouts of Windows and Wine, a thread
// other than `waiter` must hold it, and at least one thread must wait for it. `threads`: the sorted ids of the live
// threads. If the owner is none of them, it is given as 0; this is accepted only for a section with debug information.
// Returns nothing if no word points to such a section, or several words point to different ones. (Microsoft Learn,
// "Displaying a Critical Section"; winnt.h: RTL_CRITICAL_SECTION.)
std::optional<Lock> awaited_section(const MemoryReader& memory, std::span<const std::uint64_t> words,
                                    std::uint32_t waiter, std::span<const std::uint32_t> threads);
// The SRWLOCK to which one of these words points. By its content, in Windows' layout, it must be held and have a list
// of waiting threads that begins on one of the stacks. Returns nothing in the same cases as above, and always under
// Wine. Wine's SRW locks contain nothing by which they could be recognised.
std::optional<Lock> awaited_srw_lock(const MemoryReader& memory, std::span<const std::uint64_t> words,
                                     std::span<const StackLimits> stacks);

// The loader lock, if a thread other than `waiter` holds it: by its own fields or, if they show no such thread, because
// a single thread is the loader's owner (is_load_owner). `section`: the lock's address; 0 if unknown.
std::optional<Lock> held_loader_lock(const MemoryReader& memory, std::uint64_t section, std::uint32_t waiter,
                                     std::span<const TargetThread> threads);

// The content of a lock, read while a thread that waits for it was stopped.
struct LockReading {
  Lock lock;
  std::uint32_t waiter = 0;  // a thread's id
};
// The locks of these readings, sorted by address, each with all threads that wait for it. A lock for which two owners
// were read has changed its owner between two readings, so it is left out.
std::vector<Lock> consistent_locks(std::span<const LockReading> readings);

// Whether add_native_locks() would capture any thread.
bool has_native_waits(const Snapshot& snapshot);

// Adds the critical sections and SRW locks for which threads of a symbolised snapshot wait. Each such thread is
// captured again, before and after its lock is read, and a lock is added only if the thread did not move in between.
// Not frozen-safe.
void add_native_locks(Snapshot& snapshot, Target& target);

}  // namespace mixwalk
