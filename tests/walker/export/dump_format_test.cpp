#include "walker/export/dump_format.h"

#include <gtest/gtest.h>

#include "tests/builders/recordings.h"
#include "tests/builders/snapshot_builder.h"
#include "walker/model/series.h"

namespace mixwalk {
namespace {

TEST(DumpFormat, SamplesOverTimeAreNoDump) {
  EXPECT_EQ(dump_refusal(to_recording(representative_snapshot())), "");
  EXPECT_NE(dump_refusal(representative_recording()).find("one moment"), std::string::npos);
}

// If thousands of threads share a stack, the stack takes a few bytes in a file. A copy for each thread would take
// gigabytes.
TEST(DumpFormat, StacksThatWouldFillTheMemoryAreRefused) {
  Recording recording;
  recording.threads.resize(1);
  recording.frames.push_back({.name = std::string(1000, 'n')});
  for (std::uint32_t i = 0; i < 1000; ++i) {
    recording.nodes.push_back({.parent = i == 0 ? Recording::kNone : i - 1, .frame = 0});
  }
  const Recording::Sample deepest{.stack = 999};
  recording.samples.assign(100, deepest);
  EXPECT_EQ(dump_refusal(recording), "");
  recording.samples.assign(1000, deepest);
  EXPECT_NE(dump_refusal(recording), "");
}

}  // namespace
}  // namespace mixwalk
