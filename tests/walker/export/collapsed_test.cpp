#include "walker/export/collapsed.h"

#include <gtest/gtest.h>

#include "tests/builders/recordings.h"
#include "tests/support/full_sink.h"

namespace mixwalk {
namespace {

std::string collapsed(const Recording& recording, const CollapsedOptions& options = {}) {
  StringSink sink;
  EXPECT_TRUE(write_collapsed(recording, sink, options));
  return sink.text;
}

Recording one_frame(const std::string& name) {
  Recording recording;
  recording.threads.push_back({});
  recording.frames.push_back({.name = name});
  recording.nodes.push_back({});
  recording.samples.push_back({.value = UINT64_MAX, .stack = 0});
  return recording;
}

TEST(Collapsed, ANumberOfSixtyFourBitsIsExact) {
  EXPECT_EQ(collapsed(one_frame("main")), "main 18446744073709551615\n");
}

TEST(Collapsed, ASumPastTheNumbersIsTheLastOne) {
  Recording recording = one_frame("main");
  recording.samples.push_back({.value = 1, .stack = 0});
  EXPECT_EQ(collapsed(recording), "main 18446744073709551615\n");
}

TEST(Collapsed, FramesThatReadTheSameAreOneLine) {
  Recording recording = one_frame("main");
  recording.samples[0].value = 3;
  recording.frames.push_back({.address = 8, .name = "main"});
  recording.nodes.push_back({Recording::kNone, 1});
  recording.samples.push_back({.value = 4, .stack = 1});
  EXPECT_EQ(collapsed(recording), "main 7\n");
}

TEST(Collapsed, ANameCannotEndItsFrameOrItsLine) {
  EXPECT_EQ(collapsed(one_frame("a;b\nc 1\r\u2028")),
            "a\\x3bb\\x0ac 1\\x0d\\u2028 18446744073709551615\n");
}

TEST(Collapsed, WithoutSamplesThereIsALineThatSaysSo) {
  EXPECT_EQ(collapsed(Recording{}), "[no samples] 0\n");
}

TEST(Collapsed, SaysWhenTheSinkIsFull) {
  FullSink sink;
  EXPECT_FALSE(write_collapsed(representative_recording(), sink));
}

}  // namespace
}  // namespace mixwalk
