#pragma once

#include "walker/model/snapshot.h"
#include "walker/outside/clr_questions.h"
#include "walker/outside/monitors.h"
#include "walker/outside/target.h"

namespace mixwalk {

// Adds to a snapshot the monitors of its target: Snapshot::locks and locks_missing. A live process is looked at twice,
// and what both looks say alike is added. The stacks of `snapshot` say where thin locks are looked for. Not frozen-safe.
void add_monitors(Snapshot& snapshot, Target& target, ClrQuestions& clr, const MonitorLimits& limits = {});

}  // namespace mixwalk
