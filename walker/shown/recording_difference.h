#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "walker/model/recording.h"

namespace mixwalk {

// A frame's share of a recording's total, from 0 to 1. The total is the sum of Sample::value over all samples.
struct FrameShare {
  double self = 0;   // the share of samples in which the frame is the leaf
  double total = 0;  // of samples with the frame on their stack; twice on a stack counts once

  bool operator==(const FrameShare&) const = default;
};

// A frame in two recordings, identified by its name, since addresses and modules differ from run to run.
struct FrameDifference {
  char kind = 'W';    // letter() of its kind, or 'W' for a word in a frame's place
  std::string label;  // as in exports (ShownStacks), without a mark of a guess; UTF-8
  FrameShare before, after;

  bool operator==(const FrameDifference&) const = default;
};

// The frames of both recordings, each once, in the order in which they were met. Pure.
std::vector<FrameDifference> recording_difference(const Recording& before, const Recording& after);

// Returns, in one line, why the shares of the two recordings cannot be compared: they count different things, or one of
// them is empty. Returns an empty text if they can be compared.
std::string difference_refusal(const Recording& before, const Recording& after);

}  // namespace mixwalk
