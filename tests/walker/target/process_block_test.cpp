#include "walker/target/process_block.h"

#include <gtest/gtest.h>

#include "tests/builders/paged_memory.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kTeb = 0x2'0000'0000, kPeb = 0x2'1000'0000, kLock = 0x7FFA'1234'5640;

TEST(ProcessBlock, TheLoaderLock) {
  test::PagedMemory memory;
  EXPECT_EQ(loader_lock(memory, kTeb), 0u);
  memory.put(kTeb + 0x60, std::uint64_t{kPeb});
  EXPECT_EQ(loader_lock(memory, kTeb), 0u);
  memory.put(kPeb + 0x110, std::uint64_t{kLock});
  EXPECT_EQ(loader_lock(memory, kTeb), kLock);
  EXPECT_EQ(loader_lock(memory, 0), 0u);
}

TEST(ProcessBlock, TheOwnerOfTheLoader) {
  test::PagedMemory memory;
  EXPECT_FALSE(is_load_owner(memory, kTeb));
  memory.put(kTeb + 0x17EE, std::uint16_t{0xEFFF});
  EXPECT_FALSE(is_load_owner(memory, kTeb));
  memory.put(kTeb + 0x17EE, std::uint16_t{0x1420});
  EXPECT_TRUE(is_load_owner(memory, kTeb));
  EXPECT_FALSE(is_load_owner(memory, 0));
}

}  // namespace
}  // namespace mixwalk
