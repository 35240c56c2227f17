#include "walker/clr/jitted_code.h"

#include <gtest/gtest.h>

#include "tests/builders/jitted_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kHeap = 0x7FFD'0000'0000;

class JittedCode : public testing::Test {
 protected:
  std::optional<JittedFunction> find(std::uint32_t offset) {
    const ClrCode code = method_.put(heap_);
    return find_jitted_function(heap_, code, kHeap + offset);
  }

  BuiltMemory heap_{kHeap, 0x3000};
  test::JittedBuilder method_{.entries = {{0x1008, 0x1100, 0x500}}};
};

TEST_F(JittedCode, OneEntryCoversTheMethod) {
  for (const std::uint32_t words : {2u, 3u, 4u, 7u}) {
    SCOPED_TRACE(words);
    method_.words_before = words;
    const auto found = find(0x1050);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->image_base, kHeap);
    EXPECT_EQ(found->entry.begin, 0x1008u);
    EXPECT_EQ(found->entry.unwind, 0x500u);
  }
}

TEST_F(JittedCode, EntriesCountFromWhereTheFirstOneSays) {
  // The base of a heap's entries need not be the start of the heap.
  method_.entries = {{0x8, 0x100, 0x500}};
  const auto found = find(0x1050);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->image_base, kHeap + 0x1000);
}

TEST_F(JittedCode, HandlerOfAnException) {
  method_.entries = {{0x1008, 0x1080, 0x500}, {0x1080, 0x10C0, 0x520}};
  method_.reserved = 2;
  EXPECT_EQ(find(0x1090)->entry.unwind, 0x520u);
  EXPECT_EQ(find(0x107F)->entry.unwind, 0x500u);
  EXPECT_FALSE(find(0x10C0));  // behind both entries: reserved entries do not count
}

TEST_F(JittedCode, HeaderOfAnotherMethod) {
  ClrCode code = method_.put(heap_);
  code.method += 8;
  EXPECT_FALSE(find_jitted_function(heap_, code, kHeap + 0x1050));
  code = method_.put(heap_);
  code.gc_info += 8;
  EXPECT_FALSE(find_jitted_function(heap_, code, kHeap + 0x1050));
  code = method_.put(heap_);
  code.jitted = false;
  EXPECT_FALSE(find_jitted_function(heap_, code, kHeap + 0x1050));
}

TEST_F(JittedCode, HeaderThatIsNotThere) {
  const ClrCode code = method_.put(heap_);
  for (const std::uint64_t header : {std::uint64_t{0}, std::uint64_t{8}, ~std::uint64_t{0} - 7, kHeap + 0x2FFC}) {
    heap_.put64(0x1000, header);
    EXPECT_FALSE(find_jitted_function(heap_, code, kHeap + 0x1050)) << header;
  }
}

TEST_F(JittedCode, TooManyEntries) {
  const ClrCode code = method_.put(heap_);
  const std::uint32_t count_at = method_.header + 8 * method_.words_before + 8;
  for (const std::uint32_t count : {0u, 16'385u, 0xFFFF'FFFFu}) {
    heap_.put32(count_at, count);
    EXPECT_FALSE(find_jitted_function(heap_, code, kHeap + 0x1050)) << count;
  }
  // The method has as many entries as are allowed, in memory that ends before them. No read may go beyond the memory.
  heap_.put32(count_at, 16'384);
  EXPECT_FALSE(find_jitted_function(heap_, code, kHeap + 0x2FFF));
}

TEST_F(JittedCode, FirstEntryBeyondTheCode) {
  // The base would be below zero.
  method_.entries = {{0xFFFF'0000, 0xFFFF'0100, 0x500}};
  ClrCode code = method_.put(heap_);
  code.start = 0x1008;
  EXPECT_FALSE(find_jitted_function(heap_, code, 0x1050));
}

}  // namespace
}  // namespace mixwalk
