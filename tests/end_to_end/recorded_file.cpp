#include "tests/end_to_end/recorded_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "walker/store/recording_reader.h"

namespace mixwalk {

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Recording read_whole(const std::string& path) {
  ReadRecording read = read_recording(bytes_of(path));
  EXPECT_TRUE(read.recording) << read.error;
  EXPECT_EQ(read.cut.kind, Cut::Kind::none) << sentence(read.cut);
  return read.recording ? std::move(*read.recording) : Recording{};
}

std::vector<std::string> frame_names(const Recording& recording, const Recording::Sample& sample) {
  std::vector<std::string> names;
  for (const std::uint32_t frame : stack_frames(recording, sample.stack)) {
    if (recording.frames[frame].inline_depth == 0) names.push_back(recording.frames[frame].name);
  }
  return names;
}

bool is_whole(const Recording& recording, const Recording::Sample& sample) {
  return sample.stack != Recording::kNone &&
         std::ranges::none_of(stack_frames(recording, sample.stack), [&](std::uint32_t index) {
           const RecordedFrame& frame = recording.frames[index];
           return frame.kind == FrameKind::gap || is_guess(frame.trust);
         });
}

}  // namespace mixwalk
