#include "symbols/il_map.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "symbols/assembly.h"

namespace mixwalk {
namespace {

using Map = std::vector<IlToNative>;

TEST(IlMap, TheRangeThatAnAddressLiesIn) {
  const Map map = {{IlToNative::kProlog, 0, 10}, {0, 10, 20}, {7, 20, 30}, {IlToNative::kEpilog, 30, 35}};
  EXPECT_EQ(il_offset_at(map, 10), 0u);
  EXPECT_EQ(il_offset_at(map, 19), 0u);
  EXPECT_EQ(il_offset_at(map, 20), 7u);
}

TEST(IlMap, CodeWithoutIl) {
  const Map map = {{IlToNative::kProlog, 0, 10}, {3, 10, 20}, {IlToNative::kNoMapping, 20, 30}, {9, 30, 40},
                   {IlToNative::kEpilog, 40, 45}};
  EXPECT_EQ(il_offset_at(map, 5), 0u) << "the prolog";
  EXPECT_EQ(il_offset_at(map, 25), 3u) << "the code before it";
  EXPECT_EQ(il_offset_at(map, 42), 9u) << "the epilog";
}

// Optimised code has its parts in the order that is fastest.
TEST(IlMap, OrderDoesNotMatter) {
  const Map map = {{9, 30, 40}, {3, 40, 50}, {1, 10, 30}};
  EXPECT_EQ(il_offset_at(map, 35), 9u);
  EXPECT_EQ(il_offset_at(map, 45), 3u);
  EXPECT_EQ(il_offset_at(map, 29), 1u);
}

TEST(IlMap, TheNarrowestOfRangesInsideEachOther) {
  const Map map = {{5, 20, 30}, {1, 0, 100}};
  EXPECT_EQ(il_offset_at(map, 25), 5u);
  EXPECT_EQ(il_offset_at(map, 50), 1u);
}

TEST(IlMap, NothingIsKnown) {
  EXPECT_EQ(il_offset_at({}, 5), std::nullopt);
  EXPECT_EQ(il_offset_at(Map{{IlToNative::kNoMapping, 0, 10}}, 5), std::nullopt);
  EXPECT_EQ(il_offset_at(Map{{4, 10, 20}}, 5), std::nullopt);
}

std::array<std::byte, 8> modes(std::uint32_t value) {
  return {std::byte{1}, {}, std::byte(value), std::byte(value >> 8), std::byte(value >> 16), {}, {}, {}};
}

TEST(Assembly, WhatADebuggableAttributeForbids) {
  EXPECT_TRUE(may_be_optimised({}));
  EXPECT_TRUE(may_be_optimised(modes(0x2)));      // Release: IgnoreSymbolStoreSequencePoints
  EXPECT_FALSE(may_be_optimised(modes(0x107)));   // Debug
  const std::array<std::byte, 6> flags = {std::byte{1}, {}, std::byte{1}, std::byte{1}, {}, {}};
  EXPECT_FALSE(may_be_optimised(flags));
  const std::array<std::byte, 6> tracking = {std::byte{1}, {}, std::byte{1}, {}, {}, {}};
  EXPECT_TRUE(may_be_optimised(tracking));
  EXPECT_TRUE(may_be_optimised(std::span(flags).first(3)));
}

}  // namespace
}  // namespace mixwalk
