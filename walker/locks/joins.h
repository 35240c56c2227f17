#pragma once

#include <cstdint>
#include <optional>

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// For a thread that is, by the names of its managed frames, in a wait of Thread.Join: the end address of the part of
// its stack that contains the joined System.Threading.Thread. Nothing if the thread is in no such wait.
std::optional<std::uint64_t> join_end(const Thread& thread);

// Whether add_joins() would capture any thread.
bool has_joins(const Snapshot& snapshot);

// Adds the end of each thread for which other threads wait in Thread.Join, as a lock of the kind thread_end that the
// joined thread has to give, to a snapshot whose managed frames have names. Among the registers and the frames of the
// wait are the joined System.Threading.Thread, on which the method was called, and the runtime's own Thread, which its
// native code needs until the end. Only one other thread may have both there. (A thread that was joined before may have
// left one of them.) Each waiting thread is captured again, before and after the runtime is asked. Not frozen-safe.
void add_joins(Snapshot& snapshot, Target& target, ClrQuestions& clr);

}  // namespace mixwalk
