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

TEST_F(DumpTargetTest, AListWithoutTheStackLeavesTheMemoryAtRsp) {
  DumpBuilder dump;
  dump.memory(0x1000, std::vector<std::byte>(0x1000));
  dump.thread({.id = 1, .stack = 0x1100, .registers = DumpBuilder::at(5, 0x1140)});
  const RawSample sample = captured(dump);
  EXPECT_EQ(sample.fault, CaptureFault::none);
  EXPECT_EQ(sample.stack.begin(), 0x1140u);
  EXPECT_EQ(sample.stack.end(), 0x2000u);
  DumpBuilder nowhere;
  nowhere.thread({.id = 1, .registers = DumpBuilder::at(5, 0x1140)});
  EXPECT_EQ(captured(nowhere).fault, CaptureFault::off_stack);
}

TEST_F(DumpTargetTest, AStackAtTheLastAddressesIsNone) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0} - 0xFFF;
  DumpBuilder dump;
  dump.memory(kLast, std::vector<std::byte>(0xFF8)).memory(0x7000, teb(kLast, kLast + 0xFF8));
  dump.thread({.id = 1, .teb = 0x7000, .stack = kLast, .stack_bytes = 0xFF8,
               .registers = DumpBuilder::at(5, kLast + 0xFF0)});
  dump.exception(1, 0xC0000005, 6, DumpBuilder::at(5, kLast + 0xFF0));
  EXPECT_EQ(captured(dump).fault, CaptureFault::off_stack);
}

DumpBuilder raised(std::uint32_t code, const std::vector<std::uint64_t>& parameters = {}) {
  DumpBuilder dump;
  dump.memory(0x1000, std::vector<std::byte>(0x1000)).memory(0x5000, std::vector<std::byte>(0x1000));
  dump.module(0x1'0000, 0x1000, 1, "C:\\app\\app.exe").module(0x2'0000, 0x1000, 1, "C:\\Windows\\NTDLL.dll");
  dump.thread({.id = 1, .stack = 0x1100, .stack_bytes = 0x100, .registers = DumpBuilder::at(5, 0x1140)});
  return dump.exception(1, code, 0x1'0010, DumpBuilder::at(0x1'0010, 0x5800), parameters);
}

TEST_F(DumpTargetTest, TheCrashedThreadIsWhereTheExceptionWasRaised) {
  const RawSample sample = captured(raised(0xC0000005, {1, 0x40}));
  EXPECT_EQ(sample.context.rip, 0x1'0010u);
  EXPECT_EQ(sample.stack.begin(), 0x5800u) << "the exception has a stack of its own";
  EXPECT_EQ(sample.stack.end(), 0x6000u);
  ASSERT_NE(target_->crash(), nullptr);
  EXPECT_EQ(*target_->crash(), (Crash{.thread = 1, .code = 0xC0000005, .address = 0x1'0010,
                                      .access = CrashAccess::write, .touched = 0x40, .objects = {}}));
}

TEST_F(DumpTargetTest, AFaultThatAHandlerHasRaisedAnewIsTheCrash) {
  DumpBuilder dump = raised(0);
  std::vector<std::byte> stack(0x1000);
  std::ranges::copy(DispatchedFault{.rip = 0x1'0020, .address = 0x1'0020, .rsp = 0x9F00}.bytes(),
                    stack.begin() + 0x810);
  dump.memory(0x9000, stack);
  dump.exception(1, 0xC0000005, 0x3'0000, DumpBuilder::at(0x3'0018, 0x9800));
  const RawSample sample = captured(dump);
  EXPECT_EQ(sample.context.rip, 0x1'0020u);
  EXPECT_EQ(sample.stack.begin(), 0x9F00u);
  EXPECT_EQ(*target_->crash(), (Crash{.thread = 1, .code = 0xC0000005, .address = 0x1'0020,
                                      .access = CrashAccess::write, .touched = 0x40, .objects = {}}));
}

// A dump of a fault that a function with a frame of 4 KiB has raised anew: what the system has put on the stack at
// `dispatched` is right behind that frame. In the frame are the remains of another fault.
DumpBuilder raised_anew_behind_remains() {
  constexpr std::uint64_t kImage = 0x4'0000, kFrame = 0x97F8;
  ImageBuilder image;
  // UNWIND_INFO: version 1; prologue of 4 bytes; UWOP_ALLOC_LARGE of 0x200 words.
  image.raw_function(0x1000, 0x1080, 0x10C0).put_code(0x10C0, {0x01, 4, 2, 0, 4, 0x01, 0x00, 0x02});
  const auto memory = loaded(image.build());
  DumpBuilder dump;
  dump.module(kImage, static_cast<std::uint32_t>(memory.size()), ImageBuilder::kTimestamp, "C:\\net\\coreclr.dll");
  dump.memory(kImage, memory).memory(0x7000, teb(0x9000, 0xC000));
  dump.thread({.id = 1, .teb = 0x7000, .registers = DumpBuilder::at(5, 0x9040)});
  return dump.exception(1, 0xC0000005, kImage + 0x1000, DumpBuilder::at(kImage + 0x1020, kFrame));
}

// The stack of that dump, from 0x9000 on.
std::vector<std::byte> stack_with_remains() {
  std::vector<std::byte> stack(0x3000);
  const auto put = [&](std::size_t at, const std::vector<std::byte>& bytes) {
    std::ranges::copy(bytes, stack.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0x810, DispatchedFault{.rip = 0x1'0020, .address = 0x1'0020, .rsp = 0xB800}.bytes());
  put(0x17F8, ByteWriter().u64(0x2'0010).bytes());
  put(0x1800, DispatchedFault{.rip = 0x1'0030, .address = 0x1'0030, .rsp = 0xB800}.bytes());
  return stack;
}

TEST_F(DumpTargetTest, TheRemainsOfAFaultThatWasHandledAreNotTheCrash) {
  DumpBuilder dump = raised_anew_behind_remains();
  dump.memory(0x9000, stack_with_remains());
  EXPECT_EQ(target(dump).crash()->address, 0x1'0030u);
}

TEST_F(DumpTargetTest, AFaultOnAStackThatTheDumpHasInPieces) {
  const auto stack = stack_with_remains();
  DumpBuilder dump = raised_anew_behind_remains();
  dump.memory(0x9000, {stack.begin(), stack.begin() + 0x810}).memory(0xA7F0, {stack.begin() + 0x17F0, stack.end()});
  EXPECT_EQ(target(dump).crash()->address, 0x1'0030u);
}

TEST_F(DumpTargetTest, AStackInAdjoiningPieces) {
  DumpBuilder dump;
  // (In this order they do not adjoin in the file.)
  dump.memory(0x2000, std::vector<std::byte>(0x800)).memory(0x1000, std::vector<std::byte>(0x1000));
  dump.thread({.id = 1, .registers = DumpBuilder::at(5, 0x1140)});
  EXPECT_EQ(captured(dump).stack.end(), 0x2800u);
}

TEST_F(DumpTargetTest, WhatACrashTouched) {
  const auto access = [&](const std::vector<std::uint64_t>& parameters) {
    return target(raised(0xC0000005, parameters)).crash()->access;
  };
  EXPECT_EQ(access({0, 0x40}), CrashAccess::read);
  EXPECT_EQ(access({8, 0x40}), CrashAccess::execute);
  EXPECT_EQ(access({0, 0x1'0010}), CrashAccess::execute) << "the instruction itself";
  EXPECT_EQ(access({7, 0x40}), CrashAccess::none);
  EXPECT_EQ(access({1}), CrashAccess::none);
  EXPECT_EQ(target(raised(0xC0000006, {0, 0x40, 0xC000009C})).crash()->detail, 0xC000009Cu);
  EXPECT_EQ(target(raised(0xC0000409, {7})).crash()->detail, 7u);
  EXPECT_EQ(target(raised(0xE0434352, {0x80131509})).crash()->detail, 0x80131509u);
}

TEST_F(DumpTargetTest, WhereADebuggerStopsAProgramIsNoCrash) {
  for (const std::uint32_t code : {0u, 0x80000004u, 0x80000007u, 0x40010005u}) {
    EXPECT_EQ(captured(raised(code)).context.rip, 5u);
    EXPECT_EQ(target_->crash(), nullptr) << code;
  }
  EXPECT_NE(target(raised(0x80000003)).crash(), nullptr) << "a breakpoint of the program";
  DumpBuilder attached = raised(0);
  attached.exception(1, 0x80000003, 0x2'0010, DumpBuilder::at(0x2'0010, 0x5800));
  EXPECT_EQ(target(attached).crash(), nullptr) << "a breakpoint in ntdll.dll";
}

TEST_F(DumpTargetTest, AThreadThatOnlyTheExceptionNames) {
  DumpBuilder dump = raised(0);
  dump.exception(0x77, 0xC0000005, 0x1'0010, DumpBuilder::at(0x1'0010, 0x5800));
  DumpTarget& of = target(dump);
  ASSERT_THAT(of.threads(), SizeIs(2));
  EXPECT_EQ(of.threads()[1].os_id, 0x77u);
  RawSample sample(buffer_, {});
  of.capture(of.threads()[1], sample);
  EXPECT_EQ(sample.fault, CaptureFault::none);
  EXPECT_EQ(sample.stack.begin(), 0x5800u);
  of.capture(of.threads()[0], sample);
  EXPECT_EQ(sample.context.rip, 5u);
}

TEST_F(DumpTargetTest, AThrownObjectOfCppHasItsTypeAndItsText) {
  for (const char* const name : {"thrown", "thrown_msvc"}) {
    file_ = dump_samples().at(name);
    read_ = Minidump::parse(file_);
    target_.emplace(read_, disk_);
    ASSERT_THAT(target_->crash()->objects, SizeIs(1)) << name;
    EXPECT_NE(target_->crash()->objects[0].message, "") << name;
  }
  EXPECT_EQ(target_->crash()->objects[0].type, "std::exception");
}

TEST_F(DumpTargetTest, UnloadedImagesAreKnownByTheirAddresses) {
  DumpBuilder dump = raised(0);
  dump.unloaded(0x3'0000, 0x100, 5, "gone.dll").unloaded(0x3'0000, 0x1000, 6, "older.dll");
  const DumpTarget& of = target(dump);
  EXPECT_EQ(of.unloaded_at(0x3'0012)->path, "gone.dll");
  EXPECT_EQ(of.unloaded_at(0x3'0112)->path, "older.dll");
  EXPECT_EQ(of.unloaded_at(0x3'0112)->base, 0x3'0000u);
  EXPECT_FALSE(of.unloaded_at(0x3'1000));
}

TEST_F(DumpTargetTest, OfOverlappingImagesTheOneInTheMemoryIsRight) {
  const auto app = loaded(app_image());
  const auto bytes = static_cast<std::uint32_t>(app.size());
  DumpBuilder dump;
  dump.module(kAppBase - 0x8000, 0x2'0000, 7, "C:\\app\\large.dll");
  dump.module(kAppBase, bytes, ImageBuilder::kTimestamp, "C:\\app\\app.exe").memory(kAppBase, app);
  dump.module(kAppBase + 0x800, 0x2'0000, 7, "C:\\app\\over.dll").thread({.id = 1});
  const DumpTarget& of = target(dump);
  ASSERT_THAT(of.modules(), SizeIs(1));
  EXPECT_EQ(of.modules()[0].path, "C:\\app\\app.exe");
  EXPECT_THAT(of.overlapping(), ::testing::ElementsAre("C:\\app\\large.dll", "C:\\app\\over.dll"));
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
