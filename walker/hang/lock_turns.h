#pragma once

#include <cstdint>
#include <vector>

#include "walker/hang/process_findings.h"

namespace mixwalk {

// Since which dump each thread of the last one waits, without a break, for a lock that one and the same thread holds.
// By place in Snapshot::threads; indices into the dumps; the last dump for a thread that waits for no known lock. A lock
// goes round between two dumps if it has another owner in the second one, if nobody held it in the first one, or if a
// thread that waited for it as well (and would not have given up) has come past its wait. A thread has waited no longer
// than the owner of its lock, where that one waits itself. Linear in locks, waiters and dumps.
std::vector<std::uint32_t> unturned_since(const ProcessFindings& process);

}  // namespace mixwalk
