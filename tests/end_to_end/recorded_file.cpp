#include "tests/end_to_end/recorded_file.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/support/utf8_path.h"
#include "walker/store/recording_reader.h"

namespace mixwalk {

std::string bytes_of(const std::string& path) {
  std::ifstream in(utf8_path(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool has_text(const std::string& path, std::string_view text, std::uint64_t milliseconds) {
  const ULONGLONG end = GetTickCount64() + milliseconds;
  while (bytes_of(path).find(text) == std::string::npos) {
    if (GetTickCount64() >= end) return false;
    Sleep(20);
  }
  return true;
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

bool has_no_gap(const Recording& recording, const Recording::Sample& sample) {
  return sample.stack != Recording::kNone &&
         std::ranges::none_of(stack_frames(recording, sample.stack), [&](std::uint32_t index) {
           return recording.frames[index].kind == FrameKind::gap;
         });
}

bool is_whole(const Recording& recording, const Recording::Sample& sample) {
  return has_no_gap(recording, sample) &&
         std::ranges::none_of(stack_frames(recording, sample.stack), [&](std::uint32_t index) {
           return is_guess(recording.frames[index].trust);
         });
}

}  // namespace mixwalk
