#include "walker/target/dump_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/builders/dump_samples.h"
#include "tests/builders/image_builder.h"
#include "tests/walker/target/fake_files.h"

namespace mixwalk {
namespace {

using namespace test;
using ::testing::SizeIs;

class DumpTargetTest : public ::testing::Test {
 protected:
  DumpTarget& target(const DumpBuilder& dump) {
    file_ = dump.build();
    read_ = Minidump::parse(file_);
    EXPECT_EQ(read_.error(), MinidumpError::none);
    target_.emplace(read_, disk_);
    return *target_;
  }
  RawSample captured(const DumpBuilder& dump) {
    DumpTarget& of = target(dump);
    RawSample sample(buffer_, {});
    of.capture(of.threads()[0], sample);
    return sample;
  }

  std::vector<std::byte> file_, buffer_ = std::vector<std::byte>(0x1'0000);
  Minidump read_;
  NoImageFiles none_;
  FakeFiles folder_;
  DiskImages disk_{none_, folder_, parse_symbol_path("/symbols")};
  std::optional<DumpTarget> target_;
};

// Returns a TEB, which has the stack's base at 8 and its limit at 16.
std::vector<std::byte> teb(std::uint64_t limit, std::uint64_t base, std::uint64_t peb = 0) {
  return ByteWriter().u64(0).u64(base).u64(limit).zeros(0x48).u64(peb).bytes();
}

TEST_F(DumpTargetTest, TheTebSaysHowFarTheStackGoes) {
  DumpBuilder dump;
  dump.memory(0x1000, std::vector<std::byte>(0x1000)).memory(0x7000, teb(0x1000, 0x1800));
  dump.thread({.id = 1, .teb = 0x7000, .stack = 0x1100, .stack_bytes = 0x100,
               .registers = DumpBuilder::at(5, 0x1100)});
  const RawSample sample = captured(dump);
  EXPECT_EQ(sample.fault, CaptureFault::none);
  EXPECT_EQ(sample.context.rip, 5u);
  EXPECT_EQ(sample.stack.begin(), 0x1100u);
  EXPECT_EQ(sample.stack.end(), 0x1800u);
  EXPECT_FALSE(sample.stack.cut());
}

TEST_F(DumpTargetTest, WhenAThreadBeganAndWhatItUsed) {
  DumpBuilder dump;
  dump.thread({.id = 1, .teb = 0x7000}).thread({.id = 2, .teb = 0x8000}).thread({.id = 3, .teb = 0x9000});
  ByteWriter info;
  info.u32(12).u32(64).u32(2);
  info.u32(1).zeros(12).u64(11).u64(0).u64(22).u64(33).u64(0).u64(0);
  info.u32(3).zeros(12).u64(12).u64(0).u64(~0ull).u64(33).u64(0).u64(0);  // nonsense
  dump.stream(17, info.bytes());
  const auto threads = target(dump).threads();
  EXPECT_EQ(threads[0].created, 11u);
  EXPECT_EQ(threads[0].cpu, 55u);
  EXPECT_EQ(threads[1].created, 0u);
  EXPECT_EQ(threads[1].cpu, std::nullopt);
  EXPECT_EQ(threads[2].cpu, std::nullopt);
}

TEST_F(DumpTargetTest, WithoutATebTheListOfThreadsDoes) {
  DumpBuilder dump;
  dump.memory(0x1000, std::vector<std::byte>(0x1000));
  dump.thread({.id = 1, .teb = 0x7000, .stack = 0x1100, .stack_bytes = 0x100,
               .registers = DumpBuilder::at(5, 0x1140)});
  const RawSample sample = captured(dump);
  EXPECT_EQ(sample.stack.begin(), 0x1140u);
  EXPECT_EQ(sample.stack.end(), 0x1200u);
}

TEST_F(DumpTargetTest, ATebOfAnotherStackIsNotBelieved) {
  DumpBuilder dump;
  dump.memory(0x1000, std::vector<std::byte>(0x1000)).memory(0x7000, teb(0x5000, 0x6000));
  dump.thread({.id = 1, .teb = 0x7000, .stack = 0x1100, .stack_bytes = 0x100,
               .registers = DumpBuilder::at(5, 0x1140)});
  EXPECT_EQ(captured(dump).stack.end(), 0x1200u);
}

TEST_F(DumpTargetTest, AStackThatTheDumpHasInPartIsCut) {
  DumpBuilder dump;
  dump.memory(0x1000, std::vector<std::byte>(0x1000)).memory(0x7000, teb(0x1000, 0x4000));
  dump.thread({.id = 1, .teb = 0x7000, .registers = DumpBuilder::at(5, 0x1800)});
  const RawSample sample = captured(dump);
  EXPECT_EQ(sample.stack.end(), 0x2000u);
  EXPECT_TRUE(sample.stack.cut());
}

TEST_F(DumpTargetTest, ModulesAreSortedAndDisjoint) {
  DumpBuilder dump;
  dump.module(0x9000, 0x1000, 1, "C:\\a\\main.exe").module(0x3000, 0x2000, 2, "C:\\a\\low.dll");
  dump.module(0x4000, 0x1000, 3, "C:\\a\\overlaps.dll").module(0x1000, 0, 4, "C:\\a\\empty.dll");
  dump.thread({.id = 1});
  const DumpTarget& of = target(dump.misc(4711, 1));
  ASSERT_THAT(of.modules(), SizeIs(2));
  EXPECT_EQ(of.modules()[0].path, "C:\\a\\low.dll");
  EXPECT_EQ(of.process().path, "C:\\a\\main.exe");
  EXPECT_EQ(of.process().id, 4711u);
}

TEST_F(DumpTargetTest, TheCommandLineStandsInTheProcessBlock) {
  ByteWriter text;
  for (const char c : std::string("app --port 8080")) text.u16(static_cast<unsigned char>(c));
  DumpBuilder dump;
  dump.memory(0x7000, teb(0, 0, 0x8000));
  dump.memory(0x8000, ByteWriter().zeros(0x20).u64(0x9000).bytes());
  dump.memory(0x9000, ByteWriter().zeros(0x70).u16(text.size()).u16(64).u32(0).u64(0xA000).bytes());
  dump.memory(0xA000, text.bytes());
  dump.thread({.id = 1, .teb = 0x7000});
  EXPECT_EQ(target(dump).process().command_line, "app --port 8080");
}

// Returns a process with an image of that name, whose version resource has that product version.
DumpBuilder with_runtime(const std::string& name, const std::string& version) {
  auto image = loaded(ntdll_image());
  ByteWriter resource;
  for (const char c : std::string("ProductVersion")) resource.u16(static_cast<unsigned char>(c));
  resource.u16(0).u16(0);
  for (const char c : version) resource.u16(static_cast<unsigned char>(c));
  resource.u16(0);
  std::copy(resource.bytes().begin(), resource.bytes().end(), image.begin() + ImageBuilder::kData);
  ImageBuilder::put32(image, ImageBuilder::kDirectoriesAt + 2 * 8, ImageBuilder::kData);
  ImageBuilder::put32(image, ImageBuilder::kDirectoriesAt + 2 * 8 + 4, static_cast<std::uint32_t>(resource.size()));
  DumpBuilder dump;
  dump.module(0x1'0000, static_cast<std::uint32_t>(image.size()), 1, name).memory(0x1'0000, image);
  return dump.thread({.id = 1});
}

TEST_F(DumpTargetTest, TheRuntimesVersionStandsInItsResources) {
  EXPECT_EQ((target(with_runtime("C:\\net\\CoreCLR.dll", "8.0.31+abc")).runtime()), (Runtime{".NET", 8, 0, 31, 0}));
  EXPECT_EQ((target(with_runtime("C:\\net\\coreclr.dll", "10,0,1226,42308 @Commit: 95")).runtime()),
            (Runtime{".NET", 10, 0, 12, 0}));
  EXPECT_EQ((target(with_runtime("C:\\windows\\clr.dll", "4.8.9181.1")).runtime()),
            (Runtime{".NET Framework", 4, 8, 9181, 1}));
  EXPECT_EQ((target(with_runtime("C:\\app\\other.dll", "1.0")).runtime()), Runtime());
}

}  // namespace
}  // namespace mixwalk
