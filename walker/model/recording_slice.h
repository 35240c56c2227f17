#pragma once

#include <cstdint>
#include <span>

#include "walker/model/recording.h"

namespace mixwalk {

// Makes a recording of some samples of a recording, with only the table rows that they need. It begins at `begin_ns`
// and ends at `end_ns`, both on the time scale of the recording's samples; the beginning is rounded to a whole
// millisecond. `samples` refer to the tables of `recording`, and need not be its own samples.
Recording recording_slice(const Recording& recording, std::span<const Recording::Sample> samples,
                          std::uint64_t begin_ns, std::uint64_t end_ns);

}  // namespace mixwalk
