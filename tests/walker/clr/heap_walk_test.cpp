#include "walker/clr/heap_walk.h"

#include <gtest/gtest.h>

#include "tests/builders/paged_memory.h"

namespace mixwalk {
namespace {

constexpr HeapDeadline kNever = HeapDeadline::max();
constexpr std::uint64_t kHeap = 0x3'0000'0000, kPlain = 0x1000, kArray = 0x2000, kFree = 0x3000, kString = 0x4000;
using Addresses = std::vector<std::uint64_t>;

// The heap has an object, an array of five, free room of the collector, and an object.
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
        case kString: return object_bytes(20, 2);
        default: return ObjectBytes{};
      }
    };
  }
  void put(std::uint64_t at, std::uint64_t word) { memory_.put(kHeap + at, word); }
  static Addresses moved(Addresses addresses, std::uint64_t by) {
    for (std::uint64_t& address : addresses) address += by;
    return addresses;
  }
  WalkedObjects walk(const Addresses& offsets, HeapPart part = {0, 152}, HeapDeadline deadline = kNever) {
    part = {kHeap + part.begin, kHeap + part.end, part.limit != 0 ? kHeap + part.limit : 0};
    WalkedObjects found = objects_among(memory_, part, types_, moved(offsets, kHeap), deadline);
    return {moved(found.objects, -kHeap), found.end - kHeap};
  }
  Addresses among(const Addresses& offsets, std::uint64_t end = 152) { return walk(offsets, {0, end}).objects; }
  Addresses possible(const std::vector<HeapPart>& parts, const Addresses& addresses, HeapDeadline deadline = kNever) {
    return possible_objects(memory_, parts, types_, addresses, deadline);
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
  put(24, 0x7);  // any value
  types_.free_room[kHeap + 24] = kHeap + 128;
  EXPECT_EQ(among({24, 32, 128}), Addresses{128});
  types_.free_room[kHeap + 24] = kHeap;  // the room ends before its own start
  put(24, kArray);
  EXPECT_EQ(among({128}), Addresses{128});
}

TEST_F(HeapWalk, ZerosAndMarksOfTheCollector) {
  for (std::uint64_t at = 24; at < 128; at += 8) put(at, 0);
  put(0, kPlain | 1);
  EXPECT_EQ(among({0, 24, 128}), (Addresses{0, 128}));
}

TEST_F(HeapWalk, StringsTakeTheCharacterThatEndsThem) {
  EXPECT_EQ(object_bytes(20, 2), (ObjectBytes{22, 2}));
  EXPECT_EQ(object_bytes(24, 2), (ObjectBytes{24, 2}));  // char[]
  EXPECT_EQ(object_bytes(20, 1), (ObjectBytes{20, 1}));
  put(0, kString);
  put(8, 6);  // characters: 34 bytes
  put(32, std::uint64_t{0x0001'0001} << 32);
  put(40, kArray);
  put(48, 8);
  put(96, kPlain);
  EXPECT_EQ(walk({0, 32, 40, 96}, {0, 120}), (WalkedObjects{{0, 40, 96}, 120}));
}

// A thread has taken room about whose content nothing is known. The room ends before an object that has a header.
TEST_F(HeapWalk, AHeaderBehindZeros) {
  for (std::uint64_t at = 24; at < 120; at += 8) put(at, 0);
  put(120, std::uint64_t{1} << 32);
  EXPECT_EQ(among({120, 128}), Addresses{128});
}

TEST_F(HeapWalk, MemoryThatIsNoHeap) {
  put(24, 0x9998);
  EXPECT_EQ(walk({0, 128}), (WalkedObjects{{0}, 24}));
  EXPECT_EQ(walk({0x10'0000}, {0x10'0000, 0x11'0000}), (WalkedObjects{{}, 0x10'0000}));
}

TEST_F(HeapWalk, AnObjectThatDoesNotEndInThePart) {
  put(24, kArray);
  put(32, 0xFFFF'FFFF);
  EXPECT_EQ(walk({0, 24, 128}), (WalkedObjects{{0}, 24}));
}

TEST_F(HeapWalk, AfterTheDeadline) {
  EXPECT_EQ(walk({0, 128}, {0, 152}, HeapDeadline::min()), (WalkedObjects{{}, 0}));
}

TEST_F(HeapWalk, TypesAreAskedForOnce) {
  int asked = 0;
  types_.bytes_of = [&asked](std::uint64_t) { return ++asked, ObjectBytes{24, 0}; };
  put(24, kPlain);
  EXPECT_EQ(walk({24}, {0, 48}).objects, Addresses{24});
  EXPECT_EQ(walk({24}, {24, 48}).objects, Addresses{24});
  EXPECT_EQ(asked, 1);
}

// If the walk cannot decide about an address, the address stays, so that the library decides.
TEST_F(HeapWalk, PossibleObjects) {
  const std::vector<HeapPart> parts{{kHeap, kHeap + 152, kHeap + 0x1000}};
  const Addresses all{kHeap - 8, kHeap, kHeap + 48, kHeap + 128, kHeap + 152, kHeap + 0x800, kHeap + 0x1000};
  EXPECT_EQ(possible({}, all), all);
  // Between the end of the part and the limit there are no objects.
  EXPECT_EQ(possible(parts, all), (Addresses{kHeap - 8, kHeap, kHeap + 128, kHeap + 0x1000}));
  EXPECT_EQ(possible({{kHeap, kHeap + 152}}, all),
            (Addresses{kHeap - 8, kHeap, kHeap + 128, kHeap + 152, kHeap + 0x800, kHeap + 0x1000}));
  EXPECT_EQ(possible(parts, all, HeapDeadline::min()), all);
  EXPECT_EQ(possible({{kHeap, kHeap, kHeap + 0x1000}}, all), (Addresses{kHeap - 8, kHeap + 0x1000}));
  put(72, 0x9998);  // there is no known type
  EXPECT_EQ(possible(parts, all),
            (Addresses{kHeap - 8, kHeap, kHeap + 128, kHeap + 152, kHeap + 0x800, kHeap + 0x1000}));
  // The next part is walked nevertheless.
  const std::vector<HeapPart> two{{kHeap, kHeap + 96, kHeap + 120}, {kHeap + 128, kHeap + 152}};
  EXPECT_EQ(possible(two, {kHeap + 48, kHeap + 96, kHeap + 128, kHeap + 136}),
            (Addresses{kHeap + 96, kHeap + 128}));
}

using Segments = std::unordered_map<std::uint64_t, HeapSegment>;

HeapParts::SegmentAt from(const Segments& segments) {
  return [&segments](std::uint64_t at) {
    const auto found = segments.find(at);
    return found != segments.end() ? std::optional(found->second) : std::nullopt;
  };
}

TEST(HeapParts, SortedWithoutThoseThatOverlap) {
  const Segments segments{{1, {{0x3000, 0x4000, 0x5000}, 2}}, {2, {{0x1000, 0x2000, 0x3800}, 3}},
                          {3, {{0x6000, 0x6000, 0x7000}, 4}}, {4, {{0x3800, 0x9000, 0x9000}, 5}},
                          {5, {{0x8000, 0x8000, 0x8000}, 6}}, {6, {{0xA000, 0x9000, 0xB000}, 0}}};
  HeapParts parts;
  parts.add_list(1, from(segments), kNever);
  const std::vector<HeapPart> taken{{0x1000, 0x2000, 0x3000}, {0x3000, 0x4000, 0x5000}, {0x6000, 0x6000, 0x7000}};
  EXPECT_EQ(parts.take(), taken);
}

TEST(HeapParts, ListsThatGoRoundInCircles) {
  // The segments are: one alone, without objects; two, one of which has objects; and a list that leads into a circle.
  const Segments segments{{1, {{}, 1}}, {2, {{0x1000, 0x2000}, 3}}, {3, {{}, 2}}, {4, {{0x3000, 0x4000}, 3}},
                          {5, {{0x5000, 0x6000}, 0}}};
  HeapParts parts;
  for (const std::uint64_t first : {1, 2, 4, 5, 9}) parts.add_list(first, from(segments), kNever);
  EXPECT_EQ(parts.take(), (std::vector<HeapPart>{{0x1000, 0x2000}, {0x3000, 0x4000}, {0x5000, 0x6000}}));
}

TEST(HeapParts, AListWithoutEndOrTime) {
  std::uint64_t asked = 0;
  const auto next = [&asked](std::uint64_t at) { return ++asked, std::optional(HeapSegment{{}, at + 1}); };
  HeapParts parts;
  parts.add_list(1, next, kNever);
  EXPECT_EQ(asked, 100'000u);
  HeapParts late;
  late.add_list(1, next, HeapDeadline::min());
  EXPECT_EQ(asked, 100'000u);
}

}  // namespace
}  // namespace mixwalk
