#include "walker/model/recording.h"

namespace mixwalk {

std::vector<std::uint32_t> stack_frames(const Recording& recording, std::uint32_t stack) {
  std::vector<std::uint32_t> frames;
  for (; stack != Recording::kNone; stack = recording.nodes[stack].parent) {
    frames.push_back(recording.nodes[stack].frame);
  }
  return frames;
}

}  // namespace mixwalk
