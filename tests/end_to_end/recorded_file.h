#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "walker/model/recording.h"

namespace mixwalk {

std::string bytes_of(const std::string& path);

// Waits for a text in a file that another program writes. Returns whether it came in time.
bool has_text(const std::string& path, std::string_view text, std::uint64_t milliseconds);

// Reads a whole .mixwalk file of mixwalk. If it is not such a file, or is cut, the test fails.
Recording read_whole(const std::string& path);

// Returns the names of the frames of a sample's stack, leaf first.
std::vector<std::string> frame_names(const Recording& recording, const Recording::Sample& sample);
// Whether the sample has a stack, with no gap in it.
bool has_no_gap(const Recording& recording, const Recording::Sample& sample);
// Whether the sample has a stack, with no gap and no guessed frame in it.
bool is_whole(const Recording& recording, const Recording::Sample& sample);

}  // namespace mixwalk
