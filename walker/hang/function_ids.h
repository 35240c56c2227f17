#pragma once

#include <cstdint>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// A number for the function of each frame of each thread, in their order. Equal functions have equal numbers, also in
// dumps of other processes and machines. Functions without a name are distinguished by their place in the image. The
// number is a hash of 64 bits, so two different functions have the same number only by chance. Linear in the length of
// all names.
std::vector<std::vector<std::uint64_t>> function_ids(const Snapshot& snapshot);

}  // namespace mixwalk
