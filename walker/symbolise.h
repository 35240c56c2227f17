#pragma once

#include "symbols/symboliser.h"
#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Names the native frames of a snapshot that lie in images. Managed frames and stubs have their names
// from the runtime.
void symbolise(Snapshot& snapshot, Symboliser& symboliser);

// One frame of a recording; the module is its own.
void symbolise(RecordedFrame& frame, const Module& module, Symboliser& symboliser);

}  // namespace mixwalk
