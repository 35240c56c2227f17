#pragma once

#include "walker/model/snapshot.h"

namespace mixwalk {

// A snapshot with one of everything: each kind of frame, each end of a run, a skipped thread, hostile names. The result
// is the same on every machine.
Snapshot representative_snapshot();
// The same snapshot with its native frames' calls checked, where each result occurs once, and with asynchronous work.
Snapshot checked_snapshot();
// Adds asynchronous work with one of everything: the main thread waits for a task whose continuation was posted to the
// context of that thread, the last thread waits for Task.WhenAll, a thread runs a task that another one waits for, and
// no thread waits for some chains, of which one is a circle.
void add_async_work(Snapshot& snapshot);

}  // namespace mixwalk
