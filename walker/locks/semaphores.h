#pragma once

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Adds to Snapshot::locks each SemaphoreSlim at which tasks wait (AsyncTask::object), if it is not among them because a
// thread waits for it. Such a lock has no waiters: what waits is in Snapshot::tasks. It counts as held if its count is
// 0, and has no owner, because a semaphore does not record who has entered it. Not frozen-safe.
void add_semaphores_of_tasks(Snapshot& snapshot, ClrQuestions& clr);

}  // namespace mixwalk
