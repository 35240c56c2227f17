#pragma once

#include <cstddef>
#include <vector>

#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// A series of dumps of one process, in the order of time, as one recording of SampleEvent::dump. Samples with the same
// time are of the same dump. A dump without threads has no samples, so the recording does not show it. Where dumps have
// the same millisecond, or the clock was set back, their times are set one millisecond apart.
Recording to_recording(const std::vector<Snapshot>& series);

// The dumps of a recording of SampleEvent::dump, in order. Each has the modules and assemblies of all of them. Where
// the recording does not have the locks and processor times of an earlier dump (Recording::earlier_dumps; earlier
// versions of mixwalk did not write it), that dump has none, and locks_missing says so.
std::vector<Snapshot> to_series(const Recording& recording);

// How many they are; 1 where it has no samples.
std::size_t dumps_of(const Recording& recording);

}  // namespace mixwalk
