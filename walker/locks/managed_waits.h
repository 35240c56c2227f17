#pragma once

#include "walker/clr/clr_questions.h"
#include "walker/clr/tasks/task_graph.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Whether add_managed_waits() would capture any thread again.
bool has_managed_waits(const Snapshot& snapshot, const TaskLimits& limits);

// Adds all that the runtime's data say about waits to a snapshot whose managed frames have names: the locks of managed
// code, joined threads, callbacks of cancellations, tasks and what they wait for, the thread that serves each context,
// the thread pool and its queue, the semaphores at which tasks wait, how far the queues
// have moved in which threads wait, and what each thread is. Not frozen-safe.
void add_managed_waits(Snapshot& snapshot, Target& target, ClrQuestions& clr, const TaskLimits& limits);

}  // namespace mixwalk
