#pragma once

#include "walker/cli/options/thread_selection.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Leaves only the threads in a dump of all threads that --thread means, and says so in Snapshot::omissions. The main
// thread is found by the frames of managed code, which must have names. `unmatched`: gets all threads of the dump.
void keep_chosen_threads(Snapshot& snapshot, const ThreadSelection& chosen, UnmatchedThreads& unmatched);

}  // namespace mixwalk
