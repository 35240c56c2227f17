#include "walker/shown/recording_filter.h"

#include <gtest/gtest.h>

#include "walker/model/recording_builder.h"

namespace mixwalk {
namespace {

using Names = std::vector<std::string>;

Names leaf_first(const Recording& recording, std::size_t sample) {
  Names names;
  for (const std::uint32_t frame : stack_frames(recording, recording.samples[sample].stack)) {
    names.push_back(recording.frames[frame].name);
  }
  return names;
}

// The samples are: Main → native → Callback → leaf of native code; native code alone; no stack.
Recording recording() {
  RecordingBuilder builder;
  std::uint32_t node = Recording::kNone;
  const auto call = [&](FrameKind kind, const char* name) {
    node = builder.add_node(node, builder.add_frame({.kind = kind, .name = name}));
  };
  call(FrameKind::managed, "Main");
  call(FrameKind::native, "native");
  call(FrameKind::managed, "Callback");
  call(FrameKind::native, "leaf");
  builder.recording().samples.push_back({.time_ns = 1, .stack = node});
  node = Recording::kNone;
  call(FrameKind::native, "start");
  builder.recording().samples.push_back({.time_ns = 2, .stack = node});
  builder.recording().samples.push_back({.time_ns = 3});
  return std::move(builder.recording());
}

TEST(RecordingFilter, LeavesAllWhenItIsToldNothing) {
  EXPECT_EQ(filtered(recording(), {}), recording());
}

TEST(RecordingFilter, KeepsManagedFramesOnly) {
  const Recording kept = filtered(recording(), {.managed_only = true});
  EXPECT_EQ(leaf_first(kept, 0), (Names{"Callback", "Main"}));
  EXPECT_EQ(kept.samples[1].stack, Recording::kNone);
  EXPECT_EQ(kept.samples[2].stack, Recording::kNone);
  EXPECT_EQ(kept.samples[2].time_ns, 3u);
}

TEST(RecordingFilter, CountsTheDepthInWhatIsLeft) {
  EXPECT_EQ(leaf_first(filtered(recording(), {.depth = 3}), 0),
            (Names{"leaf", "Callback", "native"}));
  EXPECT_EQ(leaf_first(filtered(recording(), {.managed_only = true, .depth = 1}), 0),
            Names{"Callback"});
}

}  // namespace
}  // namespace mixwalk
