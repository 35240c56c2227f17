#pragma once

#include "walker/model/snapshot.h"

namespace mixwalk {

// A snapshot with one of everything: each kind of frame, each end of a run, a skipped thread, hostile names. The same
// on every machine.
Snapshot representative_snapshot();
// The same, with its native frames' calls checked: one of each result.
Snapshot checked_snapshot();

}  // namespace mixwalk
