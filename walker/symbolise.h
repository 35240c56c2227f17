#pragma once

#include <vector>

#include "symbols/managed_lines.h"
#include "symbols/symboliser.h"
#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// A module, as its symbols are looked for.
LoadedImage loaded_image(const Module& module);

// Names the native frames of a snapshot that lie in images, and puts in the frames of calls that were
// inlined into them. Managed frames and stubs have their names from the runtime.
void symbolise(Snapshot& snapshot, Symboliser& symboliser);

// One native frame of a recording, named, as the last one; before it the calls that were inlined into it,
// innermost first. The module is the frame's own.
std::vector<RecordedFrame> symbolised(RecordedFrame frame, const Module& module, Symboliser& symboliser);

// Gives the managed frames of a snapshot their lines.
void add_lines(Snapshot& snapshot, ManagedLines& lines);

// One managed frame of a recording, of a method of that assembly.
void add_line(RecordedFrame& frame, const Assembly& assembly, ManagedLines& lines);

}  // namespace mixwalk
