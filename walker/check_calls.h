#pragma once

#include <vector>

#include "symbols/calls/call_checker.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The images of a snapshot, as CallChecker takes them: a frame's module is an index into them.
std::vector<LoadedImage> loaded_images(const Snapshot& snapshot);

// Checks the calls of a symbolised snapshot's native frames (Frame::call), and gives functions that have no
// name that of the import by which the next frame calls them. Not frozen-safe.
void check_calls(Snapshot& snapshot, CallChecker& checker);

}  // namespace mixwalk
