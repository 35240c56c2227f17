#pragma once

#include "walker/clr/clr_questions.h"
#include "walker/locks/monitors.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Adds the locks of managed code to a snapshot: Snapshot::locks and locks_missing. A live process is read twice, and
// only locks on which both reads agree are added. The stacks of `snapshot` say where to look for thin locks, and the
// names of their managed frames say which threads wait for a System.Threading.Lock. The MonitorLimits apply to each of
// the two reads, and to the one for System.Threading.Lock. Not frozen-safe.
void add_managed_locks(Snapshot& snapshot, Target& target, ClrQuestions& clr);

}  // namespace mixwalk
