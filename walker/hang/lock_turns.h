#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "walker/hang/lock_graph.h"
#include "walker/hang/process_findings.h"

namespace mixwalk {

// Since which dump each thread of the last one waits, without a break, for a lock that one and the same thread holds.
// `links`: those of the last dump. By place in Snapshot::threads; indices into the dumps; the last dump for a thread that
// waits for no known lock. A lock changes its owner between two dumps if it has another one in the second, if it was
// free in the first (below), or if a thread that waited for it as well (and would not have given up) has come past its
// wait. A thread has waited no longer than the owner of its lock, where that one waits itself. Linear in locks, waiters
// and dumps.
std::vector<std::uint32_t> same_owner_since(const ProcessFindings& process, std::span<const LockLink> links);

// The threads of the last dump, by place in Snapshot::threads, that wait for a lock which is free: nobody holds it, or it
// was going from hand to hand. A dump of a process that runs shows only locks that two looks, one after the other, found
// with the same owner and the same waiters. A monitor that a thread waits for by its frames, and that the dump does not
// show although it has all monitors, is therefore one that goes from hand to hand.
std::vector<std::uint32_t> wait_for_free_locks(const ProcessFindings& process);

}  // namespace mixwalk
