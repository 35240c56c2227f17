#pragma once

#include <span>

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Says what each thread of a snapshot is (Thread::traits). `threads`: as the runtime knows them; empty if there is no
// runtime, or if it cannot be asked. `all`: the threads of the process, also those that the snapshot leaves out. The
// names of frames and Snapshot::contexts say which threads serve a user interface, so they should be known before. Not
// frozen-safe.
//
// The program's first thread is the one that began first, if it is known of all threads when they began. Otherwise it
// is the one of the runtime's first two threads that keeps the program running: the one that has started the runtime.
void add_thread_traits(Snapshot& snapshot, std::span<const ClrThread> threads, std::span<const TargetThread> all);

}  // namespace mixwalk
