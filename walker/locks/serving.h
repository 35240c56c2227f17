#pragma once

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Says who ends what the threads and tasks of a snapshot wait for: the thread that serves each context, the thread pool
// and its queue, the semaphores at which tasks wait, and what each thread is. The snapshot's locks and tasks are known.
// The target's memory is read as its tasks were, so that their addresses are still right. Not frozen-safe.
void add_serving(Snapshot& snapshot, const Target& target, ClrQuestions& clr);

}  // namespace mixwalk
