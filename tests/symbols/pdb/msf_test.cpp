#include "symbols/pdb/msf.h"

#include <gtest/gtest.h>

#include "tests/builders/pdb_builder.h"

namespace mixwalk {
namespace {

std::vector<std::byte> counted(std::size_t bytes) {
  std::vector<std::byte> stream(bytes);
  for (std::size_t i = 0; i < bytes; ++i) stream[i] = static_cast<std::byte>(i * 7 + i / 256);
  return stream;
}

std::vector<std::byte> copy(const MsfBytes& bytes) { return {bytes.get().begin(), bytes.get().end()}; }

class MsfTest : public testing::TestWithParam<bool> {};

TEST_P(MsfTest, StreamsAreReadWholeAndInParts) {
  test::MsfBuilder builder;
  builder.add({});
  builder.add(counted(2000));
  builder.add(counted(512));
  if (GetParam()) builder.scatter();
  const auto file = builder.build();
  const MsfFile msf = MsfFile::parse(file);
  ASSERT_EQ(msf.error(), PdbError::none);
  EXPECT_EQ(msf.stream_bytes(0), 0u);
  EXPECT_EQ(msf.stream_bytes(1), 2000u);
  EXPECT_EQ(msf.stream_bytes(2), 512u);
  EXPECT_EQ(msf.stream_bytes(3), 0u);
  const auto whole = counted(2000);
  EXPECT_EQ(copy(msf.read(1)), whole);
  EXPECT_EQ(copy(msf.read(2)), counted(512));
  for (const auto& [offset, bytes] :
       {std::pair(0u, 1u), {511u, 2u}, {512u, 512u}, {700u, 1300u}, {1999u, 1u}}) {
    EXPECT_EQ(copy(msf.read(1, offset, bytes)),
              std::vector(whole.begin() + offset, whole.begin() + offset + bytes));
  }
  EXPECT_TRUE(msf.read(1, 1999, 2).get().empty());
  EXPECT_TRUE(msf.read(1, 2001, 1).get().empty());
  EXPECT_TRUE(msf.read(9).get().empty());
}

INSTANTIATE_TEST_SUITE_P(, MsfTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Scattered" : "InARow"; });

TEST(MsfDamageTest, OtherFilesAreNone) {
  EXPECT_EQ(MsfFile::parse({}).error(), PdbError::not_a_pdb);
  EXPECT_EQ(MsfFile::parse(counted(4096)).error(), PdbError::not_a_pdb);
  const auto portable = test::ByteWriter().append({'B', 'S', 'J', 'B', 1, 0, 1, 0}).bytes();
  EXPECT_EQ(MsfFile::parse(portable).error(), PdbError::portable);
  const auto compressed = test::ByteWriter()
                              .append({'M', 'i', 'c', 'r', 'o', 's', 'o', 'f', 't', ' ', 'M', 'S', 'F', 'Z', ' ', 'C'})
                              .append({'o', 'n', 't', 'a', 'i', 'n', 'e', 'r', 13, 10, 26, 'A', 'L', 'D', 0, 0, 1})
                              .bytes();
  EXPECT_EQ(MsfFile::parse(compressed).error(), PdbError::compressed);
}

TEST(MsfDamageTest, CutOffAnywhereIsAnErrorOrWhole) {
  for (const bool scattered : {false, true}) {
    test::MsfBuilder builder;
    builder.add(counted(2000));
    if (scattered) builder.scatter();
    const auto file = builder.build();
    for (std::size_t bytes = 0; bytes < file.size(); bytes += 13) {
      const MsfFile msf = MsfFile::parse(std::span(file).first(bytes));
      const bool whole = msf.error() == PdbError::none;
      EXPECT_TRUE(!whole || copy(msf.read(0)) == counted(2000)) << bytes;
      EXPECT_FALSE(whole && bytes < 2000) << bytes;
    }
  }
}

// Some linkers count blocks that they do not write, and tools append to a PDB.
TEST(MsfDamageTest, OtherNumberOfBlocksThanTheFileHas) {
  test::MsfBuilder builder;
  builder.add(counted(2000));
  constexpr std::size_t kBlocks = 32 + 8;
  for (const int more : {1, 2, 200}) {
    auto counts_more = builder.build();
    counts_more[kBlocks] = static_cast<std::byte>(std::to_integer<int>(counts_more[kBlocks]) + more);
    EXPECT_EQ(copy(MsfFile::parse(counts_more).read(0)), counted(2000)) << more;
  }
  auto longer = builder.build();
  longer.resize(longer.size() + 700);
  EXPECT_EQ(copy(MsfFile::parse(longer).read(0)), counted(2000));
}

TEST(MsfDamageTest, BlockSizesThatAreNone) {
  test::MsfBuilder builder;
  builder.add(counted(20));
  for (const std::uint32_t size : {0u, 1u, 256u, 513u, 1u << 17, 0xFFFFFFFFu}) {
    auto file = builder.build();
    for (int i = 0; i < 4; ++i) file[32 + i] = static_cast<std::byte>(size >> 8 * i);
    EXPECT_EQ(MsfFile::parse(file).error(), PdbError::damaged_container) << size;
  }
}

// A stream must not be read a thousand times from one block.
TEST(MsfDamageTest, StreamsLongerThanTheFileAreRefused) {
  test::MsfBuilder builder;
  builder.add(counted(600));
  auto file = builder.build();
  const std::size_t directory = 5 * 512;  // behind the superblock, two maps and the stream
  ASSERT_EQ(file[directory], std::byte{1});
  file[directory + 6] = std::byte{1};  // makes the stream 65,536 bytes longer
  EXPECT_EQ(MsfFile::parse(file).error(), PdbError::shared_blocks);
}

TEST(MsfDamageTest, BlockBeyondTheFileLeavesItsStreamEmpty) {
  test::MsfBuilder builder;
  builder.add(counted(600));
  auto file = builder.build();
  const std::size_t second_block = 5 * 512 + 12;
  ASSERT_EQ(file[second_block], std::byte{4});
  file[second_block] = std::byte{200};
  const MsfFile msf = MsfFile::parse(file);
  ASSERT_EQ(msf.error(), PdbError::none);
  EXPECT_TRUE(msf.read(0).get().empty());
  EXPECT_EQ(msf.read(0, 0, 512).get().size(), 512u);
}

}  // namespace
}  // namespace mixwalk
