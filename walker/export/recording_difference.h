#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "walker/model/recording.h"

namespace mixwalk {

// What of a recording's total one frame has, from 0 to 1. The total is the sum of Sample::value over all samples.
struct FrameShare {
  double self = 0;   // of samples in which it is the leaf
  double total = 0;  // of samples on whose stack it is; a frame that stands there twice counts once

  bool operator==(const FrameShare&) const = default;
};

// A frame in two recordings, identified by its name: addresses and modules differ from run to run.
struct FrameDifference {
  char kind = 'W';    // letter() of its kind; 'W': a word in a frame's place
  std::string label;  // as exports have it (RecordedStacks), without a mark of a guess; UTF-8
  FrameShare before, after;

  bool operator==(const FrameDifference&) const = default;
};

// The frames of both recordings, each once, in the order in which they were met. Pure.
std::vector<FrameDifference> recording_difference(const Recording& before, const Recording& after);

// Why the shares of the two recordings cannot be compared, in one line: they count different things, or one of them is
// empty. Returns an empty text if they can be compared.
std::string difference_refusal(const Recording& before, const Recording& after);

}  // namespace mixwalk
