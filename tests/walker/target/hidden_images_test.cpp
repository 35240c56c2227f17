#include "walker/target/hidden_images.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "tests/builders/dump_samples.h"
#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

constexpr std::uint64_t kBase = 0x1'4000'0000;
constexpr std::uint64_t kBoundary = 0x1'0000;

// Memory with images as they are loaded, at the places that a test chooses, and nothing else.
class Places final : public MemoryReader {
 public:
  void put(std::uint64_t base, std::vector<std::byte> bytes) { images_[base] = std::move(bytes); }
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    ++reads;
    const auto after = images_.upper_bound(address);
    if (after == images_.begin()) return false;
    const auto& [base, image] = *std::prev(after);
    if (address - base > image.size() || bytes > image.size() - (address - base)) return false;
    std::memcpy(into, image.data() + (address - base), bytes);
    return true;
  }

  mutable std::size_t reads = 0;

 private:
  std::map<std::uint64_t, std::vector<std::byte>> images_;
};

std::vector<std::byte> image() {
  return test::loaded(ImageBuilder().function(0x1000, 0x1040).function(0x1080, 0x10C0).build());
}

TEST(HiddenImages, CodeOfAnImageThatNoListHas) {
  Places memory;
  memory.put(kBase, image());
  HiddenImages images(memory);
  const ModuleSpan* const found = images.image_at(kBase + 0x1010);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->base, kBase);
  EXPECT_EQ(found->size, ImageBuilder::kSizeOfImage);
  EXPECT_EQ(found->pdata_count, 2u);
  EXPECT_EQ(images.image_at(kBase + 0x1090), found);
}

TEST(HiddenImages, OnlyTheKnownPlaceIsLookedAt) {
  Places memory;
  memory.put(kBase, image());
  memory.put(kBase + 0x20'1000, image());  // not on a boundary
  HiddenImages images(memory);
  const ModuleSpan* const found = images.image_at(kBase + 0x20'2010, kBase + 0x20'1000);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->base, kBase + 0x20'1000);
  EXPECT_EQ(images.image_at(kBase + 0x20'2090, 0), found);  // known
  memory.reads = 0;
  EXPECT_EQ(images.image_at(kBase + 0x1010, kBase + 0x1000), nullptr);  // no headers there
  EXPECT_LT(memory.reads, 10u);
  EXPECT_EQ(images.image_at(kBase + 0x1050, kBase), nullptr);  // in no function
  EXPECT_EQ(images.image_at(kBase + 0x1010, kBase + 0x2000), nullptr);
  ASSERT_NE(images.image_at(kBase + 0x1010, kBase), nullptr);
}

// At a boundary of 64 KiB inside an image's code lie bytes that look like the headers of another image, but that image
// does not have the function behind them. So the outer image must be found.
TEST(HiddenImages, HeadersWithoutTheFunctionAreNone) {
  std::vector<std::byte> large = image();
  large.resize(3 * kBoundary);
  const std::uint32_t size = 3 * kBoundary;
  std::memcpy(large.data() + ImageBuilder::kPeAt + 24 + 56, &size, sizeof size);  // SizeOfImage
  // The function is in the last part, and the first bytes of an image are before it.
  const std::uint32_t function[] = {2 * kBoundary + 0x2000, 2 * kBoundary + 0x2040};
  std::memcpy(large.data() + ImageBuilder::entry_rva(1), function, sizeof function);
  const std::vector<std::byte> inner = image();
  std::memcpy(large.data() + 2 * kBoundary, inner.data(), 0x1000);
  Places memory;
  memory.put(kBase, large);
  HiddenImages images(memory);
  const ModuleSpan* const found = images.image_at(kBase + 2 * kBoundary + 0x2010);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->base, kBase);
}

TEST(HiddenImages, CodeBetweenFunctionsAndBesideImages) {
  Places memory;
  memory.put(kBase, image());
  HiddenImages images(memory);
  EXPECT_EQ(images.image_at(kBase + 0x1050), nullptr);               // in no function
  EXPECT_EQ(images.image_at(kBase + ImageBuilder::kSizeOfImage), nullptr);  // behind the image
  EXPECT_EQ(images.image_at(0x10), nullptr);                        // nothing is below it
  EXPECT_EQ(images.image_at(~0ull), nullptr);
}

TEST(HiddenImages, WhatWasNotFoundIsNotLookedForAgain) {
  const Places memory;
  HiddenImages images(memory);
  EXPECT_EQ(images.image_at(kBase), nullptr);
  const std::size_t once = memory.reads;
  EXPECT_GT(once, 1000u);
  EXPECT_EQ(images.image_at(kBase + 8), nullptr);
  EXPECT_EQ(memory.reads, once);
  // The search for an image must also end if there is none.
  for (std::uint64_t i = 1; i < 200; ++i) EXPECT_EQ(images.image_at(kBase + i * kBoundary), nullptr);
  const std::size_t all = memory.reads;
  EXPECT_EQ(images.image_at(kBase + 1000 * kBoundary), nullptr);
  EXPECT_EQ(memory.reads, all);
}

}  // namespace
}  // namespace mixwalk
