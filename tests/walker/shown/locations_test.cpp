#include "walker/shown/locations.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

using Indices = std::vector<std::uint32_t>;

// main calls f at 0x20; a is inlined into f, and b into a.
Recording inlined() {
  Recording recording;
  recording.threads.push_back({});
  constexpr AddressKind kReturn = AddressKind::return_address;
  recording.frames = {{.address_kind = kReturn, .address = 0x20, .name = "main"},
                      {.address = 0x40, .name = "f"},
                      {.inline_depth = 1, .address = 0x40, .name = "a"},
                      {.inline_depth = 2, .address = 0x40, .name = "b"}};
  recording.nodes = {{Recording::kNone, 0}, {0, 1}, {1, 2}, {2, 3}};
  return recording;
}

TEST(Locations, InlinedFunctionsShareOne) {
  Recording recording = inlined();
  recording.samples = {{.stack = 3}};
  const ShownStacks stacks(recording);
  Locations locations(stacks);
  ASSERT_EQ(locations.locations().size(), 2u);
  EXPECT_EQ(locations.of_stack(3), (Indices{1, 0}));
  EXPECT_EQ(locations.locations()[1].frames, (Indices{3, 2, 1}));
  EXPECT_EQ(locations.locations()[1].address, 0x40u);
}

TEST(Locations, AReturnAddressIsMovedOntoItsCall) {
  Recording recording = inlined();
  recording.samples = {{.stack = 0}};
  const ShownStacks stacks(recording);
  Locations locations(stacks);
  ASSERT_EQ(locations.locations().size(), 1u);
  EXPECT_EQ(locations.locations()[0].address, 0x1Fu);
}

TEST(Locations, AFrameOfManyStacksIsOne) {
  Recording recording = inlined();
  recording.nodes.push_back({1, 1});
  recording.samples = {{.stack = 1}, {.stack = 4}};
  const ShownStacks stacks(recording);
  Locations locations(stacks);
  EXPECT_EQ(locations.locations().size(), 2u);
  EXPECT_EQ(locations.of_stack(4), (Indices{1, 1, 0}));
}

TEST(Locations, AnInlinedFrameWithoutItsRealOneIsOneByItself) {
  Recording recording = inlined();
  recording.nodes = {{Recording::kNone, 3}, {0, 3}};
  recording.samples = {{.stack = 1}};
  const ShownStacks stacks(recording);
  Locations locations(stacks);
  EXPECT_EQ(locations.of_stack(1), (Indices{0, 0}));
}

TEST(Locations, AWordHasNoAddress) {
  Recording recording = inlined();
  recording.samples = {{}};
  const ShownStacks stacks(recording);
  Locations locations(stacks);
  ASSERT_EQ(locations.locations().size(), 1u);
  EXPECT_EQ(locations.locations()[0].address, 0u);
}

}  // namespace
}  // namespace mixwalk
