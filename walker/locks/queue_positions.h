#pragma once

#include <cstdint>
#include <optional>

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// For a thread that is, by the names of its managed frames, in a wait of a BlockingCollection, for room or for an item:
// the end address of the part of its stack that contains the address of the collection. Nothing if it is in no such
// wait.
std::optional<std::uint64_t> collection_wait_end(const Thread& thread);

// Whether add_queue_positions() would capture any thread.
bool has_collection_waits(const Snapshot& snapshot);

// Says of each thread that waits in a BlockingCollection over a ConcurrentQueue or a ConcurrentBag how far that has
// moved (Thread::queue_position). `snapshot`: its managed frames have names. Among the registers and the frames of the
// wait are the collection, whose method needs it again after the wait, and the semaphore for which the thread waits.
// Only one collection may be there with one of its semaphores. Each such thread is captured again, for a limited time.
// What is read while the thread goes on may be the position in another queue, so it is only good for comparisons. Not
// frozen-safe.
void add_queue_positions(Snapshot& snapshot, Target& target, ClrQuestions& clr);

}  // namespace mixwalk
