#include "unmanaged/minidump/dump_memory.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/builders/dump_builder.h"

namespace mixwalk {
namespace {

using test::DumpBuilder;

std::vector<std::byte> text(const std::string& characters) {
  std::vector<std::byte> bytes;
  for (const char c : characters) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

class DumpMemoryTest : public ::testing::Test {
 protected:
  void build(DumpBuilder builder) {
    file_ = builder.thread({.id = 1}).build();
    dump_ = Minidump::parse(file_);
    ASSERT_EQ(dump_.error(), MinidumpError::none);
  }
  std::string read(std::uint64_t address, std::size_t bytes) const {
    std::string out(bytes, '?');
    return DumpMemory(dump_).read(address, out.data(), bytes) ? out : "unreadable";
  }

  std::vector<std::byte> file_;
  Minidump dump_;
};

TEST_F(DumpMemoryTest, AReadAcrossRangesThatAdjoinIsWhole) {
  // The file has the ranges in the opposite order, so they are two ranges.
  build(DumpBuilder().memory(0x1004, text("bbbb")).memory(0x1000, text("aaaa")));
  ASSERT_EQ(dump_.memory().size(), 2u);
  EXPECT_EQ(read(0x1002, 4), "aabb");
  EXPECT_EQ(read(0x1000, 8), "aaaabbbb");
}

TEST_F(DumpMemoryTest, AReadThatPassesTheEndIsNone) {
  build(DumpBuilder().memory(0x1000, text("aaaa")).memory(0x1005, text("bbbb")));
  EXPECT_EQ(read(0x1000, 5), "unreadable");
  EXPECT_EQ(read(0x0FFF, 2), "unreadable");
  EXPECT_EQ(read(0x1004, 1), "unreadable");
  EXPECT_EQ(read(0x1005, 4), "bbbb");
  EXPECT_EQ(read(0x1009, 0), "");
  std::string part(8, '?');
  EXPECT_EQ(DumpMemory(dump_).read_up_to(0x1002, part.data(), 8), 2u);
}

TEST_F(DumpMemoryTest, TheLastAddressCanBeRead) {
  build(DumpBuilder().memory(UINT64_MAX - 3, text("wxyz")).memory(0, text("zero")));
  EXPECT_EQ(read(UINT64_MAX - 3, 4), "wxyz");
  // No address comes behind the last one; in particular the first address does not.
  EXPECT_EQ(read(UINT64_MAX - 3, 6), "unreadable");
}

TEST_F(DumpMemoryTest, RegionsSayWhatPagesHold) {
  build(DumpBuilder()
            .memory(0x1000, std::vector<std::byte>(0x5000))
            .region(0x1000, 0x1000, 0x1000, 0x20)    // code
            .region(0x2000, 0x1000, 0x1000, 0x04)    // data
            .region(0x3000, 0x1000, 0x1000, 0x104)   // guarded
            .region(0x4000, 0x1000, 0x2000, 0)       // reserved
            .region(0x9000, 0x1000, 0x1000, 0x20));  // code that is not in the dump
  DumpOutsideMemory outside(dump_);
  EXPECT_EQ(outside.kind(0x1800), MemoryKind::code);
  EXPECT_EQ(outside.kind(0x2000), MemoryKind::data);
  EXPECT_EQ(outside.kind(0x3000), MemoryKind::nothing);
  EXPECT_EQ(outside.kind(0x4000), MemoryKind::nothing);
  EXPECT_EQ(outside.kind(0x5000), MemoryKind::nothing);
  EXPECT_EQ(outside.kind(0x9000), MemoryKind::nothing);
}

TEST_F(DumpMemoryTest, WithoutRegionsWhatIsThereMayBeCode) {
  build(DumpBuilder().memory(0x1000, text("aaaa")));
  DumpOutsideMemory outside(dump_);
  EXPECT_EQ(outside.kind(0x1003), MemoryKind::code);
  EXPECT_EQ(outside.kind(0x1004), MemoryKind::nothing);
}

}  // namespace
}  // namespace mixwalk
