#pragma once

#include "walker/clr/clr_questions.h"
#include "walker/clr/tasks/task_graph.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Whether add_tasks() would look for anything without TaskLimits::heap: a thread waits for a task.
bool has_task_waits(const Snapshot& snapshot);

// Adds the tasks for which threads wait, and what these tasks wait for, to a snapshot whose managed frames have names:
// Snapshot::tasks, contexts and tasks_missing, and Thread::waits_for_task. With TaskLimits::heap, also all other tasks
// of the heap that have not ended. Each thread that waits for a task or runs one is captured again. A live process is
// read twice, and only what both reads agree on is added. Not frozen-safe.
void add_tasks(Snapshot& snapshot, Target& target, ClrQuestions& clr, const TaskLimits& limits = {});

}  // namespace mixwalk
