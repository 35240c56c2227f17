#include "walker/locks/managed_waits.h"

#include "walker/locks/contexts.h"
#include "walker/locks/joins.h"
#include "walker/locks/semaphores.h"
#include "walker/locks/target_locks.h"
#include "walker/locks/target_tasks.h"
#include "walker/locks/thread_pool.h"
#include "walker/locks/thread_traits.h"

namespace mixwalk {

// What comes after the tasks reads the target's memory as these were read, so that their addresses are still right.
void add_managed_waits(Snapshot& snapshot, Target& target, ClrQuestions& clr, const TaskLimits& limits) {
  add_managed_locks(snapshot, target, clr);
  add_joins(snapshot, target, clr);
  add_tasks(snapshot, target, clr, limits);
  add_context_threads(snapshot, target, clr);
  add_semaphores_of_tasks(snapshot, clr);
  add_semaphore_holders(snapshot, target, clr);
  add_thread_pool(snapshot, target, clr);
  add_thread_traits(snapshot, clr.threads(), target.threads());
}

}  // namespace mixwalk
