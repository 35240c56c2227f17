#pragma once

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Reads the thread pool of .NET into Snapshot::pool: its workers and limits, the length of its queues, and what the
// first items of the queues are. The snapshot's managed frames have names, and its tasks are known. The pool's objects
// are found on the stacks of its threads, where the methods that use them keep them. The queues are known only if a
// thread runs an item. Nothing of the target is trusted. Not frozen-safe.
//
// Sources: PortableThreadPool.cs, ThreadPoolWorkQueue.cs and ConcurrentQueueSegment.cs of .NET 8 to 10, public.
void add_thread_pool(Snapshot& snapshot, const Target& target, ClrQuestions& clr);

}  // namespace mixwalk
