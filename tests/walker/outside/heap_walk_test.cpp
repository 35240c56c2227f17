#include "walker/outside/heap_walk.h"

#include <gtest/gtest.h>

#include "tests/support/paged_memory.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kHeap = 0x3'0000'0000, kPlain = 0x1000, kArray = 0x2000, kFree = 0x3000;
using Addresses = std::vector<std::uint64_t>;

// An object, an array of five, room of the collector's, and an object.
class HeapWalk : public testing::Test {
 protected:
  HeapWalk() {
    put(0, kPlain);
    put(24, kArray);
    put(32, 5);
    put(72, kFree);
    put(80, 32);
    put(128, kPlain);
    types_.bytes_of = [](std::uint64_t method_table) {
      switch (method_table) {
        case kPlain: return ObjectBytes{24, 0};
        case kArray: return ObjectBytes{24, 4};
        case kFree: return ObjectBytes{24, 1};
        default: return ObjectBytes{};
      }
    };
  }
  void put(std::uint64_t at, std::uint64_t word) { memory_.put(kHeap + at, word); }
  Addresses among(const Addresses& offsets, std::uint64_t end = 152) {
    Addresses addresses;
    for (const std::uint64_t offset : offsets) addresses.push_back(kHeap + offset);
    Addresses found = objects_among(memory_, {kHeap, kHeap + end}, types_, addresses);
    for (std::uint64_t& address : found) address -= kHeap;
    return found;
  }

  test::PagedMemory memory_;
  HeapTypes types_;
};

TEST_F(HeapWalk, ObjectsBehindOneAnother) {
  EXPECT_EQ(among({0, 24, 72, 128}), (Addresses{0, 24, 72, 128}));
  EXPECT_EQ(among({}), Addresses{});
}

TEST_F(HeapWalk, WhatLooksLikeAnObjectInTheRoomThatIsFree) {
  put(96, kPlain);
  EXPECT_EQ(among({48, 96, 128}), Addresses{128});
}

TEST_F(HeapWalk, BehindTheEndIsNone) {
  put(152, kPlain);
  EXPECT_EQ(among({128, 152}), Addresses{128});
  EXPECT_EQ(among({0, 128}, 128), Addresses{0});
}

TEST_F(HeapWalk, RoomThatAThreadHasTaken) {
  put(24, 0x7);  // whatever is there
  types_.free_room[kHeap + 24] = kHeap + 128;
  EXPECT_EQ(among({24, 32, 128}), Addresses{128});
  types_.free_room[kHeap + 24] = kHeap;  // backwards
  put(24, kArray);
  EXPECT_EQ(among({128}), Addresses{128});
}

TEST_F(HeapWalk, ZerosAndMarksOfTheCollector) {
  for (std::uint64_t at = 24; at < 128; at += 8) put(at, 0);
  put(0, kPlain | 1);
  EXPECT_EQ(among({0, 24, 128}), (Addresses{0, 128}));
}

TEST_F(HeapWalk, MemoryThatIsNoHeap) {
  put(24, 0x9998);
  EXPECT_EQ(among({0, 128}), Addresses{0});
  EXPECT_EQ(objects_among(memory_, {0x5000, 0x9000}, types_, Addresses{0x5000}), Addresses{});
}

}  // namespace
}  // namespace mixwalk
