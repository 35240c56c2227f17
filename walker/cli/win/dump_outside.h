#pragma once

#include "walker/base/failure.h"
#include "walker/cli/options.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The stacks of a process that is only read: nothing is loaded into it and nothing is asked of it. Managed frames
// come by way of the runtime's debugging library, in a process of its own.
Outcome<Snapshot> dump_outside(const DumpCommand& command);

// Whether a visit that failed so can be made from outside instead: nothing answered in the process, or what answered
// would not let mixwalk.dll in.
bool may_go_outside(const Failure& failure) noexcept;

}  // namespace mixwalk
