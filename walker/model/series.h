#pragma once

#include <cstddef>
#include <vector>

#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Makes one recording of SampleEvent::dump from a series of dumps of one process, in the order of time. Samples with
// the same time belong to the same dump. A dump without threads has no samples, so the recording does not show it. If
// dumps have the same millisecond, or the clock was set back, their times are set one millisecond apart.
Recording to_recording(const std::vector<Snapshot>& series);

// The dumps of a recording of SampleEvent::dump, in order. Each has the modules and assemblies of all of them. Earlier
// versions of mixwalk did not record the locks and processor times of earlier dumps (Recording::earlier_dumps). A dump
// without that record has none of them, and locks_missing says so.
std::vector<Snapshot> to_series(const Recording& recording);

// The number of dumps in the recording; 1 if it has no samples.
std::size_t dumps_of(const Recording& recording);

}  // namespace mixwalk
