#pragma once

#include <vector>

#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// For each image of the recording, whether it is the runtime of .NET or of .NET Framework, or a part of the runtime. A
// program that was published as a single file has the runtime in its own image, so its image counts as the runtime if
// it runs managed code and no other image is the runtime. (The stack of every managed thread goes through the runtime
// to its root.) An image with methods that NativeAOT compiled contains the runtime as well, and counts as the runtime.
// The result is indexed like Recording::modules.
std::vector<bool> runtime_images(const Recording& recording);
// The same for a dump, indexed like Snapshot::modules.
std::vector<bool> runtime_images(const Snapshot& snapshot);

}  // namespace mixwalk
