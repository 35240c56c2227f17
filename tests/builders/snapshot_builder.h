#pragma once

#include "walker/model/snapshot.h"

namespace mixwalk {

// A snapshot with one of everything: each kind of frame, each end of a run, a skipped thread, hostile names. The result
// is the same on every machine.
Snapshot representative_snapshot();
// The same snapshot with its native frames' calls checked; each result occurs once.
Snapshot checked_snapshot();

}  // namespace mixwalk
