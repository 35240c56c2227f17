#include "walker/locks/serving.h"

#include "walker/locks/contexts.h"
#include "walker/locks/semaphores.h"
#include "walker/locks/thread_pool.h"
#include "walker/locks/thread_traits.h"

namespace mixwalk {

void add_serving(Snapshot& snapshot, const Target& target, ClrQuestions& clr) {
  add_context_threads(snapshot, target, clr);
  add_semaphores_of_tasks(snapshot, clr);
  add_semaphore_holders(snapshot, target, clr);
  add_thread_pool(snapshot, target, clr);
  add_thread_traits(snapshot, clr.threads(), target.threads());
}

}  // namespace mixwalk
