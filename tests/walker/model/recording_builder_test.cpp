#include "walker/model/recording_builder.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace mixwalk {
namespace {

TEST(RecordingBuilder, StacksThatShareTheirRootShareItsNodes) {
  Stack one, two;
  for (const std::uint64_t address : {3u, 2u, 1u}) one.frames.push_back(Frame{.address = address});
  for (const std::uint64_t address : {4u, 2u, 1u}) two.frames.push_back(Frame{.address = address});
  RecordingBuilder builder;
  const std::uint32_t a = builder.add_stack(one);
  const std::uint32_t b = builder.add_stack(two);
  EXPECT_NE(a, b);
  EXPECT_EQ(builder.add_stack(one), a);
  EXPECT_EQ(builder.recording().frames.size(), 4u);
  EXPECT_EQ(builder.recording().nodes.size(), 4u);
  EXPECT_EQ(builder.recording().nodes[a].parent, builder.recording().nodes[b].parent);
  EXPECT_EQ(builder.add_stack({}), Recording::kNone);
}

// Before a frame is added, an equal one is looked for. The search must compare every field of a frame.
TEST(RecordingBuilder, AFrameThatDiffersInAnythingIsAnotherFrame) {
  const Frame base{.kind = FrameKind::gap, .trust = Trust::leaf, .address = 1, .function = 2, .module = 3};
  std::vector<Frame> frames(9, base);
  frames[1].kind = FrameKind::stub;
  frames[2].trust = Trust::scan;
  frames[3].address_kind = AddressKind::return_address;
  frames[4].address = 9;
  frames[5].function = 9;
  frames[6].module = 9;
  frames[7].name = "name";
  frames[8].displacement = 9;
  const auto stack_of = [](Frame frame, OpenReason why) {
    frame.why = why;
    return Stack{.frames = {std::move(frame)}};
  };
  RecordingBuilder builder;
  std::set<std::uint32_t> nodes;
  for (const Frame& frame : frames) nodes.insert(builder.add_stack(stack_of(frame, OpenReason::no_call)));
  nodes.insert(builder.add_stack(stack_of(base, OpenReason::frame_limit)));
  EXPECT_EQ(nodes.size(), frames.size() + 1);
  EXPECT_EQ(builder.recording().frames.size(), frames.size() + 1);
  for (const Frame& frame : frames) builder.add_stack(stack_of(frame, OpenReason::no_call));
  EXPECT_EQ(builder.recording().frames.size(), frames.size() + 1);
}

TEST(RecordingBuilder, AnotherModuleInTheSamePlaceIsAnotherModule) {
  RecordingBuilder builder;
  const Module first{.base = 0x1000, .size = 10, .timestamp = 1, .path = "a.dll"};
  const Module second{.base = 0x1000, .size = 10, .timestamp = 2, .path = "b.dll"};
  EXPECT_EQ(builder.add_module(first), 0u);
  EXPECT_EQ(builder.add_module(second), 1u);
  EXPECT_EQ(builder.add_module(second), 1u);
}

}  // namespace
}  // namespace mixwalk
