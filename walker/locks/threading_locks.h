#pragma once

#include <cstdint>
#include <optional>

#include "walker/clr/clr_questions.h"
#include "walker/locks/monitors.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// For a thread that is, by the names of its managed frames, in a wait of Lock.TryEnterSlow, of a ReaderWriterLockSlim
// or of a SemaphoreSlim: the end address of the part of its stack that contains the address of the lock. Returns
// nothing if the thread waits for no such lock.
std::optional<std::uint64_t> threading_wait_end(const Thread& thread);

// Whether add_threading_locks() would capture any thread.
bool has_threading_waits(const Snapshot& snapshot);

// Adds each System.Threading.Lock, ReaderWriterLockSlim and SemaphoreSlim for which threads wait, to a snapshot whose
// managed frames have names and which has the monitors. A thread that waits for a semaphore is in a wait for the pulse
// of a monitor that belongs to the semaphore, and is no waiter of this monitor any more. Each such thread is captured
// again, before and after the locks are read. Only locks that were read twice with the same result are added, and only
// if their thread did not move in between. Snapshot::locks_missing says so if the runtime's debugging library does not
// answer, if the time is over, or if too many threads wait. Not frozen-safe.
void add_threading_locks(Snapshot& snapshot, Target& target, ClrQuestions& clr, const MonitorLimits& limits = {});

}  // namespace mixwalk
