#pragma once

#include <cstddef>
#include <vector>

#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// A series of dumps of one process, in the order of their time, as one recording of SampleEvent::dump. Samples with the
// same time are of one dump. A dump without threads has no samples, so the recording does not show it. Dumps of the
// same millisecond, or of a clock that was set back, are put one millisecond apart.
Recording to_recording(const std::vector<Snapshot>& series);

// The dumps of a recording of SampleEvent::dump, in their order. Each has the modules and assemblies of all. Where the
// recording does not say which locks and processor times an earlier dump had (Recording::earlier_dumps; an earlier
// version of mixwalk wrote it), that dump has none, and locks_missing says so.
std::vector<Snapshot> to_series(const Recording& recording);

// How many they are; 1 where it has no samples.
std::size_t dumps_of(const Recording& recording);

}  // namespace mixwalk
