#pragma once

#include <cstdint>
#include <optional>

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// For a thread that waits, by the names of its managed frames, for the end of a callback of a cancellation: the end
// address of the part of its stack that contains the callback's Registrations. Nothing if it is in no such wait.
std::optional<std::uint64_t> callback_wait_end(const Thread& thread);

// Whether add_callbacks() would capture any thread.
bool has_callback_waits(const Snapshot& snapshot);

// Adds the end of each callback of a cancellation for which other threads wait, as a lock of the kind `callback` that
// the thread that runs the callback has to reach, to a snapshot whose managed frames have names. That is proven if
// - among the words of the wait is one CancellationTokenSource.Registrations, without the one whose callbacks the
//   waiting thread itself runs: the wait is a method of that object, which reads it again and again,
// - the number of the callback that runs now (ExecutingCallbackId) is among the words as well: it is what the thread
//   waits for, and compares with the object's each time. The number of no newer callback is among them: callbacks run
//   from the newest to the oldest, so the thread may still wait for one of those, which has just ended,
// - the object names the thread that runs the callback (ThreadIDExecutingCallbacks), and this thread is in such a
//   method.
// Each waiting thread is captured before and after the object is read. It spins, so only these words must be the same.
// Not frozen-safe.
void add_callbacks(Snapshot& snapshot, Target& target, ClrQuestions& clr);

}  // namespace mixwalk
