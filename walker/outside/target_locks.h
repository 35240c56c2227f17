#pragma once

#include "walker/model/snapshot.h"
#include "walker/outside/clr_questions.h"
#include "walker/outside/monitors.h"
#include "walker/outside/target.h"

namespace mixwalk {

// Adds to a snapshot the locks of managed code: Snapshot::locks and locks_missing. A live process is looked at twice,
// and what both looks agree on is added. The stacks of `snapshot` say where to look for thin locks, and the names of
// their managed frames say which threads wait for a System.Threading.Lock. `limits`: for each of the two looks, and for
// the one at System.Threading.Lock. Not frozen-safe.
void add_managed_locks(Snapshot& snapshot, Target& target, ClrQuestions& clr, const MonitorLimits& limits = {});

}  // namespace mixwalk
