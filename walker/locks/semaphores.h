#pragma once

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Adds to Snapshot::locks each SemaphoreSlim at which tasks wait (AsyncTask::object), if it is not among them because a
// thread waits for it. Such a lock has no waiters: what waits is in Snapshot::tasks. It counts as held if its count is
// 0, and has no owner, because a semaphore does not record who has entered it. Not frozen-safe.
void add_semaphores_of_tasks(Snapshot& snapshot, ClrQuestions& clr);

// Says who has entered the semaphores of Snapshot::locks (Lock::sharers, task_holders) and, for those that only so many
// can enter, how many these are (Lock::recursion). It is proven by the code of the methods in which threads and tasks
// wait (semaphores_entered_at), and by the objects to which this code leads. What cannot be proven is left out. Only
// the runtime's contracts give the code (.NET 9 and 10). Not frozen-safe.
void add_semaphore_holders(Snapshot& snapshot, const Target& target, ClrQuestions& clr);

}  // namespace mixwalk
