#pragma once

#include <cstdint>
#include <string>

#include "walker/model/recording.h"

namespace mixwalk {

// Returns, in one line, why a format of dumps cannot show a recording: the recording is not a dump, or its stacks, each
// stored separately, would take more than kMaxDumpBytes of memory. Returns an empty text if it can be written.
std::string dump_refusal(const Recording& recording);

// Does the same for a format that shows a recording as a series of dumps (to_series), each with all modules.
std::string series_refusal(const Recording& recording);

// Does the same for a format that has room for one dump only.
std::string one_dump_refusal(const Recording& recording);

// The dump of a real process needs much less memory, but a forged file of a few kilobytes can ask for more.
inline constexpr std::uint64_t kMaxDumpBytes = std::uint64_t{1} << 30;

}  // namespace mixwalk
