#pragma once

#include <cstdint>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// A number for the function of each frame of each thread, in their order: equal where the functions are, also in dumps
// of other processes and machines. Functions without a name are told apart by their place in the image. Two functions
// have the same number by chance only (a hash of 64 bits). Linear in the length of all names.
std::vector<std::vector<std::uint64_t>> function_ids(const Snapshot& snapshot);

}  // namespace mixwalk
