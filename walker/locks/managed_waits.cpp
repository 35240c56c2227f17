#include "walker/locks/managed_waits.h"

#include "walker/locks/callbacks.h"
#include "walker/locks/contexts.h"
#include "walker/locks/joins.h"
#include "walker/locks/queue_positions.h"
#include "walker/locks/semaphores.h"
#include "walker/locks/target_locks.h"
#include "walker/locks/target_tasks.h"
#include "walker/locks/thread_pool.h"
#include "walker/locks/thread_traits.h"
#include "walker/locks/threading_locks.h"
#include "walker/locks/timeouts.h"

namespace mixwalk {

bool has_managed_waits(const Snapshot& snapshot, const TaskLimits& limits) {
  return limits.heap || has_threading_waits(snapshot) || has_joins(snapshot) ||
         has_callback_waits(snapshot) || has_task_waits(snapshot) || has_collection_waits(snapshot) ||
         has_timeouts(snapshot);
}

// What comes after the tasks reads the target's memory as these were read, so that their addresses are still right.
void add_managed_waits(Snapshot& snapshot, Target& target, ClrQuestions& clr, const TaskLimits& limits) {
  add_managed_locks(snapshot, target, clr);
  add_joins(snapshot, target, clr);
  add_callbacks(snapshot, target, clr);
  add_tasks(snapshot, target, clr, limits);
  add_context_threads(snapshot, target, clr);
  add_semaphores_of_tasks(snapshot, clr);
  add_semaphore_holders(snapshot, target, clr);
  add_thread_pool(snapshot, target, clr);
  add_thread_traits(snapshot, clr.threads(), target.threads());
  add_queue_positions(snapshot, target, clr);
  add_timeouts(snapshot, target, clr);
}

}  // namespace mixwalk
