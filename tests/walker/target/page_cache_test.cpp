#include "walker/target/page_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/builders/code_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kBase = 0x10'0000;

TEST(PageCacheTest, WordsOfOnePageAreReadOnce) {
  BuiltMemory memory(kBase, 4 * 4096);
  memory.put64(0x10, 0x1111);
  memory.put64(0xFFC, 0x2222'3333);  // across two pages
  const PageCache cache(memory);
  EXPECT_EQ(cache.read_value<std::uint64_t>(kBase + 0x10), 0x1111u);
  EXPECT_EQ(cache.read_value<std::uint32_t>(kBase + 0x14), 0u);
  EXPECT_EQ(cache.pages_read(), 1u);
  EXPECT_EQ(cache.read_value<std::uint64_t>(kBase + 0xFFC), 0x2222'3333u);
  EXPECT_EQ(cache.pages_read(), 2u);
}

TEST(PageCacheTest, WhatHasChangedIsSeenAfterDrop) {
  BuiltMemory memory(kBase, 4096);
  PageCache cache(memory);
  EXPECT_EQ(cache.read_value<std::uint32_t>(kBase), 0u);
  memory.put32(0, 7);
  EXPECT_EQ(cache.read_value<std::uint32_t>(kBase), 0u);
  cache.drop();
  EXPECT_EQ(cache.read_value<std::uint32_t>(kBase), 7u);
}

TEST(PageCacheTest, PageThatIsNotThere) {
  BuiltMemory memory(kBase, 4096);
  const PageCache cache(memory);
  EXPECT_EQ(cache.read_value<std::uint32_t>(kBase + 4096), std::nullopt);
  EXPECT_EQ(cache.read_value<std::uint32_t>(kBase + 4094), std::nullopt);
  EXPECT_EQ(cache.read_value<std::uint32_t>(~0ull - 1), std::nullopt);
  char none = 0;
  EXPECT_TRUE(cache.read(0, &none, 0));
}

TEST(PageCacheTest, PartOfAPageOfADump) {
  BuiltMemory memory(kBase + 0x100, 0x200);
  memory.put32(0x10, 5);
  const PageCache cache(memory);
  EXPECT_EQ(cache.read_value<std::uint32_t>(kBase + 0x110), 5u);
  EXPECT_EQ(cache.read_value<std::uint32_t>(kBase + 0x2FE), std::nullopt);
}

// Each read of another process is a request to the system.
class Counted final : public MemoryReader {
 public:
  explicit Counted(const MemoryReader& memory) : memory_(memory) {}
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    ++reads;
    return memory_.read(address, into, bytes);
  }
  mutable int reads = 0;

 private:
  const MemoryReader& memory_;
};

TEST(PageCacheTest, NeighbouringPagesAreReadTogether) {
  BuiltMemory memory(kBase, 16 * 4096);
  for (std::uint64_t page = 0; page < 16; ++page) memory.put64(page * 4096, page);
  const Counted counted(memory);
  const PageCache cache(counted);
  std::vector<std::uint64_t> words(4 * 512);
  EXPECT_EQ(cache.read_value<std::uint64_t>(kBase + 5 * 4096), 5u);
  EXPECT_EQ(cache.read_up_to(kBase + 4 * 4096 + 8, words.data(), words.size() * 8), words.size() * 8);
  EXPECT_EQ(words[511], 5u);
  EXPECT_EQ(words[3 * 512 + 511], 8u);
  EXPECT_EQ(counted.reads, 3);  // page 5, page 4, pages 6 to 8
  EXPECT_EQ(cache.pages_read(), 5u);
  EXPECT_TRUE(cache.read(kBase + 4 * 4096, words.data(), words.size() * 8));
  EXPECT_EQ(counted.reads, 3);
  // Where not all can be read together, those are read that can be.
  EXPECT_EQ(cache.read_up_to(kBase + 14 * 4096, words.data(), words.size() * 8), 2u * 4096);
  EXPECT_EQ(words[512], 15u);
}

TEST(PageCacheTest, PagesThatShareAPlaceTakeTurns) {
  class Numbers final : public MemoryReader {
   public:
    bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
      std::vector<std::uint64_t> words(bytes / 8, address / 4096);
      std::memcpy(into, words.data(), bytes);
      return true;
    }
  };
  const Numbers memory;
  const PageCache cache(memory);
  for (std::uint64_t page = 0; page < 3 * PageCache::kPages; ++page) {
    ASSERT_EQ(cache.read_value<std::uint64_t>(page * 4096 + 8), page);
  }
  for (std::uint64_t page = 0; page < 100; ++page) {
    ASSERT_EQ(cache.read_value<std::uint64_t>(page * 4096 + 8), page);
  }
}

TEST(PageCacheTest, ABlockIsReadAsFarAsItCanBeRead) {
  BuiltMemory memory(kBase, 32 * 4096);
  for (std::uint64_t page = 0; page < 32; ++page) memory.put64(page * 4096, page);
  const Counted counted(memory);
  PageCache::Range known{kBase + 2 * 4096 + 1, kBase + 12 * 4096 - 1};
  PageCache cache(counted, PageCache::kPages, [&](std::uint64_t) { return known; });
  const auto page = [&](std::uint64_t number) { return cache.read_value<std::uint64_t>(kBase + number * 4096); };
  EXPECT_EQ(page(6), 6u);
  EXPECT_EQ(page(3), 3u);
  EXPECT_EQ(page(7), 7u);
  EXPECT_EQ(counted.reads, 1) << "pages 3 to 7 together";
  EXPECT_EQ(cache.pages_read(), 5u);
  EXPECT_EQ(page(2), 2u) << "only a part of it is known";
  EXPECT_EQ(page(11), 11u);
  EXPECT_EQ(counted.reads, 3);
  known = {};
  cache.drop();
  EXPECT_EQ(page(6), 6u);
  EXPECT_EQ(counted.reads, 4);
}

}  // namespace
}  // namespace mixwalk
