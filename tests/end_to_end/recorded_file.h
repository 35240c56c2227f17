#pragma once

#include <string>
#include <vector>

#include "walker/model/recording.h"

namespace mixwalk {

std::string bytes_of(const std::string& path);

// A whole .mixwalk file of ours; fails the test where it is none, or cut.
Recording read_whole(const std::string& path);

// Of a sample's stack, leaf first.
std::vector<std::string> frame_names(const Recording& recording, const Recording::Sample& sample);
// It has a stack, with no gap and no guessed frame in it.
bool is_whole(const Recording& recording, const Recording::Sample& sample);

}  // namespace mixwalk
