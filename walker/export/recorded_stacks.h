#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "walker/model/recording.h"

namespace mixwalk {

// The stacks of a recording as its exports show them: every sample has one, so that no sample is
// lost to a format that knows stacks only. A sample without stack has a frame "[no stack: …]"; the
// type that was thrown or allocated is a frame on top of its stack. Refers to the recording.
class RecordedStacks {
 public:
  struct Frame {
    std::string label;                     // UTF-8
    const RecordedFrame* frame = nullptr;  // null: a word in a frame's place
  };

  explicit RecordedStacks(const Recording& recording);

  const std::vector<Frame>& frames() const noexcept { return frames_; }
  // As Recording::nodes, whose indices they keep: a parent comes before its children.
  const std::vector<Recording::Node>& nodes() const noexcept { return nodes_; }
  // The leaf node of each sample, as Recording::samples.
  const std::vector<std::uint32_t>& leaves() const noexcept { return leaves_; }

 private:
  std::vector<Frame> frames_;
  std::vector<Recording::Node> nodes_;
  std::vector<std::uint32_t> leaves_;
};

// The samples of each thread, in order: indices into `recording.samples`, by index of the thread.
std::vector<std::vector<std::uint32_t>> samples_by_thread(const Recording& recording);

// "Orders worker", or "thread 0x1a4" where it has no name. UTF-8.
std::string thread_label(const Recording::ThreadInfo& thread);

}  // namespace mixwalk
