#include "walker/target/win/known_stacks.h"

#include <gtest/gtest.h>
#include <windows.h>

namespace mixwalk {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

struct FreeRegion {
  std::uint64_t begin = 0, end = 0;
};

// The largest part of this process's address space that contains nothing: many thousand GB.
FreeRegion largest_free_region() {
  FreeRegion largest;
  MEMORY_BASIC_INFORMATION info;
  for (std::uint64_t at = 0; VirtualQuery(reinterpret_cast<const void*>(at), &info, sizeof info) != 0;) {
    const auto begin = reinterpret_cast<std::uint64_t>(info.BaseAddress);
    at = begin + info.RegionSize;
    if (info.State == MEM_FREE && info.RegionSize > largest.end - largest.begin) largest = {begin, at};
  }
  return largest;
}

class KnownStacksOfThisProcess : public testing::Test {
 protected:
  bool reads(std::uint64_t address) const {
    std::uint64_t value = 0;
    return stacks_.read(address, &value, sizeof value);
  }
  const ProcessMemory raw_{GetCurrentProcess()};
  const RemoteMemory memory_{GetCurrentProcess()};
  KnownStacks stacks_{raw_};
};

TEST_F(KnownStacksOfThisProcess, PagesThatAreClosedAreLeftOut) {
  auto* const pages =
      static_cast<char*>(VirtualAlloc(nullptr, 6 * kPageBytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
  ASSERT_NE(pages, nullptr);
  DWORD before = 0;
  ASSERT_TRUE(VirtualProtect(pages + kPageBytes, 2 * kPageBytes, PAGE_NOACCESS, &before));
  ASSERT_TRUE(VirtualProtect(pages + 4 * kPageBytes, kPageBytes, PAGE_READWRITE | PAGE_GUARD, &before));
  const auto begin = reinterpret_cast<std::uint64_t>(pages);
  stacks_.add(memory_, {begin, begin + 6 * kPageBytes});
  for (const auto& [page, readable] : {std::pair{0, true}, {1, false}, {2, false}, {3, true}, {4, false}, {5, true}}) {
    EXPECT_EQ(reads(begin + page * kPageBytes), readable) << page;
  }
  VirtualFree(pages, 0, MEM_RELEASE);
}

// As a program that sets the limits in its TEB wrongly may have it. Page by page, this would take an hour.
TEST_F(KnownStacksOfThisProcess, AStackOfTheSizeOfTheAddressSpaceEndsSoon) {
  const FreeRegion region = largest_free_region();
  ASSERT_GT(region.end - region.begin, std::uint64_t{1} << 40);
  stacks_.add(memory_, {region.begin, region.end});
  EXPECT_FALSE(reads(region.begin));
  stacks_.add(memory_, {region.begin, UINT64_MAX});
  stacks_.add(memory_, {UINT64_MAX - (std::uint64_t{1} << 50), UINT64_MAX});  // the system's half
  EXPECT_FALSE(reads(region.begin));
}

}  // namespace
}  // namespace mixwalk
