#pragma once

#include <cstdint>
#include <span>

#include "walker/model/recording.h"

namespace mixwalk {

// Some samples of a recording, as one with only what they need. It begins at `begin_ns` and ends at
// `end_ns`, both counted as its samples are, but for the part of a millisecond that a recording
// cannot begin at. `samples` point into the tables of `recording`, and need not be its own.
Recording recording_slice(const Recording& recording, std::span<const Recording::Sample> samples,
                          std::uint64_t begin_ns, std::uint64_t end_ns);

}  // namespace mixwalk
