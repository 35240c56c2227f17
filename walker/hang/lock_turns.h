#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "walker/hang/process_findings.h"

namespace mixwalk {

// For each thread of the last dump: the first dump since which the thread has waited, without a break, for a lock that
// always has the same owner. `links`: the links of the last dump. The result is indexed like Snapshot::threads, and has
// indices into the dumps; a thread that waits for no known lock has the last dump. A lock has changed its owner between
// two dumps in these cases: it has another owner in the second dump; or it was free in the first one (see below); or
// another thread that waited for it, and that would not have given up, is past its wait. If the owner waits itself, the
// thread counts as having waited no longer than the owner. Linear in locks, waiters and dumps.
std::vector<std::uint32_t> same_owner_since(const ProcessFindings& process, std::span<const WaitLink> links);

// The threads of the last dump, as indices into Snapshot::threads, that wait for a lock whose owner is not known, but
// that is not held for ever. Threads wait for the same lock if the dump says so, or, if it does not show the lock, if
// they ask for it by the same call: in the same method of the program, for the same kind of lock. The lock is not held
// for ever in two cases: one of the threads that waited for it is past its wait in a later dump, or has ended; or a
// thread that may hold it (it is in the same method below the same callers) goes on or sleeps. Linear in frames,
// and in threads times dumps.
std::vector<std::uint32_t> wait_in_turn(const ProcessFindings& process);

// The threads of the last dump, as indices into Snapshot::threads, that have not come back from a COM call into another
// apartment or process, while another thread that was in such a call has moved, so that calls are answered. It is not
// known which thread should answer. Linear in threads times dumps.
std::vector<std::uint32_t> calls_in_turn(const ProcessFindings& process);

// The threads of the last dump, as indices into Snapshot::threads, that sleep and hold a lock for which threads wait,
// or may hold it (as above). Real case: threads that sleep in native code in a critical section, one after the other.
// Two dumps met the same thread there. Linear in frames.
std::vector<std::uint32_t> sleeping_holders(const ProcessFindings& process);

// The threads of the last dump, as indices into Snapshot::threads, that wait for a lock which is free: no thread holds
// it, or it was being passed from one thread to another. A dump of a running process shows only locks that had the same
// owner and the same waiters at two successive looks. So if the dump has all monitors, but not the monitor that a
// thread waits for by its frames, that monitor was being passed on.
std::vector<std::uint32_t> wait_for_free_locks(const ProcessFindings& process);

}  // namespace mixwalk
