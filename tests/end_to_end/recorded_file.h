#pragma once

#include <string>
#include <vector>

#include "walker/model/recording.h"

namespace mixwalk {

std::string bytes_of(const std::string& path);

// A whole .mixwalk file of mixwalk's; fails the test where it is no such file, or is cut.
Recording read_whole(const std::string& path);

// Of a sample's stack, leaf first.
std::vector<std::string> frame_names(const Recording& recording, const Recording::Sample& sample);
// It has a stack, with no gap in it.
bool has_no_gap(const Recording& recording, const Recording::Sample& sample);
// It has a stack, with no gap and no guessed frame in it.
bool is_whole(const Recording& recording, const Recording::Sample& sample);

}  // namespace mixwalk
