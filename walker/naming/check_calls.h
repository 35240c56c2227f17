#pragma once

#include <vector>

#include "symbols/calls/call_checker.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The images of a snapshot in the form that CallChecker takes. A frame's module is an index into them.
std::vector<LoadedImage> loaded_images(const Snapshot& snapshot);

// Checks the calls of a symbolised snapshot's native frames (StackFrame::call). A function that has no name gets the
// name of the import through which the next frame calls it; "RtlAcquireSRWLockExclusive [tail call]" is a function to
// which that import's function jumps. Not frozen-safe.
void check_calls(Snapshot& snapshot, CallChecker& checker);

}  // namespace mixwalk
