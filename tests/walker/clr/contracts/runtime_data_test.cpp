// Threads, sync blocks, the heap, and the data that descriptors lack.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/builders/code_map_builder.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/paged_memory.h"
#include "tests/walker/target/standing_target.h"
#include "walker/clr/contracts/contract_heap.h"
#include "walker/clr/contracts/contract_tables.h"
#include "walker/clr/contracts/explicit_frames.h"
#include "walker/clr/contracts/open_contracts.h"
#include "walker/clr/contracts/runtime_threads.h"
#include "walker/clr/contracts/sync_blocks.h"

namespace mixwalk {
namespace {

using test::CodeMapBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

// As known_contracts() completes it.
ContractDescriptor whole_descriptor(const CodeMapBuilder& runtime) {
  ContractDescriptor descriptor = CodeMapBuilder::descriptor();
  EXPECT_EQ(complete(descriptor, runtime.memory, 0), "");
  return descriptor;
}

std::uint64_t thread_at(int number) { return CodeMapBuilder::kThreads + 0x1000 * static_cast<std::uint64_t>(number); }

// Threads 1 and on, each with the managed id of its number.
void put_threads(CodeMapBuilder& runtime, int count) {
  runtime.put64(CodeMapBuilder::variable(1), 0xD0);
  runtime.put64(CodeMapBuilder::variable(2), CodeMapBuilder::kStore);
  runtime.put64(CodeMapBuilder::variable(3), thread_at(2));
  runtime.put64(CodeMapBuilder::kStore + 64, thread_at(1) + 120);
  runtime.put32(CodeMapBuilder::kStore + 88, static_cast<std::uint32_t>(count));
  for (int i = 1; i <= count; ++i) {
    runtime.put32(thread_at(i) + 4, i == 1 ? 1 : 0);
    runtime.put32(thread_at(i) + 16, static_cast<std::uint32_t>(i));
    runtime.put64(thread_at(i) + 32, 0);
    runtime.put64(thread_at(i) + 304, 100u + static_cast<std::uint32_t>(i));
    runtime.put64(thread_at(i) + 120, i < count ? thread_at(i + 1) + 120 : 0);
  }
}

TEST(RuntimeThreads, ListInTheOrderOfTheRuntime) {
  CodeMapBuilder runtime;
  put_threads(runtime, 3);
  runtime.put64(thread_at(3) + 304, 0xBAAD'F00D);
  const RuntimeReader reader(runtime.memory, whole_descriptor(runtime));
  EXPECT_THAT(runtime_threads(reader),
              ElementsAre(ClrThread{thread_at(1), 101, 1, 0xD0, true, false},
                          ClrThread{thread_at(2), 102, 2, 0xD0, false, true}, ClrThread{thread_at(3), 0, 3, 0xD0}));
}

TEST(RuntimeThreads, ObjectAndState) {
  constexpr std::uint64_t kHandle = 0x1'8000'0000;
  CodeMapBuilder runtime;
  put_threads(runtime, 2);
  runtime.put64(thread_at(1) + 312, kHandle);
  runtime.put64(kHandle, 0x2'0000'0000);
  runtime.put32(thread_at(1), 0x0100'4000);
  const auto threads = runtime_threads({runtime.memory, whole_descriptor(runtime)});
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].object, 0x2'0000'0000u);
  EXPECT_EQ(threads[0].state, 0x0100'4000u);
  EXPECT_EQ(threads[1].object, 0u);
}

TEST(RuntimeThreads, ListThatNeverEndsOrLeadsNowhere) {
  CodeMapBuilder runtime;
  put_threads(runtime, 3);
  runtime.put32(CodeMapBuilder::kStore + 88, ~0u);
  runtime.put64(thread_at(3) + 120, thread_at(1) + 120);
  EXPECT_EQ(runtime_threads({runtime.memory, whole_descriptor(runtime)}).size(), 3u);
  runtime.put64(thread_at(2) + 120, 0x10);
  EXPECT_EQ(runtime_threads({runtime.memory, whole_descriptor(runtime)}).size(), 2u);
  runtime.put64(CodeMapBuilder::variable(2), 0);
  EXPECT_THAT(runtime_threads({runtime.memory, whole_descriptor(runtime)}), IsEmpty());
}

// An ExceptionInfo and the handle of its exception.
void put_exception(CodeMapBuilder& runtime, std::uint64_t at, std::uint64_t before, std::uint64_t object) {
  runtime.put64(at, before);
  runtime.put64(at + 8, at + 0x40);
  runtime.put64(at + 0x40, object);
}

std::vector<ClrThreadExceptions> exceptions_of(const CodeMapBuilder& runtime) {
  const RuntimeReader reader(runtime.memory, whole_descriptor(runtime));
  return runtime_exceptions(reader, runtime_threads(reader));
}

constexpr std::uint64_t kInner = 0x9000'0000, kOuter = 0x9000'1000;

TEST(RuntimeExceptions, InnermostFirst) {
  CodeMapBuilder runtime;
  put_threads(runtime, 3);
  runtime.put64(thread_at(1) + 320, 0);
  runtime.put64(thread_at(2) + 320, kInner);
  runtime.put64(thread_at(3) + 320, kOuter);
  runtime.put64(thread_at(3) + 304, 0xBAAD'F00D);  // it has ended
  put_exception(runtime, kInner, kOuter, 0x2'0000'0000);
  put_exception(runtime, kOuter, 0, 0x2'0000'1000);
  EXPECT_THAT(exceptions_of(runtime),
              ElementsAre(ClrThreadExceptions{102, {{kInner, 0x2'0000'0000}, {kOuter, 0x2'0000'1000}}}));
}

TEST(RuntimeExceptions, OneThatHasNoObjectYetIsLeftOut) {
  CodeMapBuilder runtime;
  put_threads(runtime, 1);
  runtime.put64(thread_at(1) + 320, kInner);
  put_exception(runtime, kInner, kOuter, 0);
  runtime.put64(kInner + 8, 0);
  put_exception(runtime, kOuter, 0, 0x2'0000'1000);
  EXPECT_THAT(exceptions_of(runtime), ElementsAre(ClrThreadExceptions{101, {{kOuter, 0x2'0000'1000}}}));
  runtime.put64(kOuter + 8, 0);
  EXPECT_THAT(exceptions_of(runtime), IsEmpty());
}

TEST(RuntimeExceptions, ListThatNeverEndsOrLeadsNowhere) {
  CodeMapBuilder runtime;
  put_threads(runtime, 1);
  runtime.put64(thread_at(1) + 320, kInner);
  put_exception(runtime, kInner, kOuter, 0x2'0000'0000);
  put_exception(runtime, kOuter, kInner, 0x2'0000'1000);
  ASSERT_EQ(exceptions_of(runtime).size(), 1u);
  EXPECT_EQ(exceptions_of(runtime)[0].exceptions.size(), 2u);
  for (std::uint64_t i = 0; i < 100; ++i) put_exception(runtime, kOuter + 0x100 * i, kOuter + 0x100 * (i + 1), 8);
  EXPECT_EQ(exceptions_of(runtime)[0].exceptions.size(), ClrThreadExceptions::kMost);
  runtime.put64(kInner, 0x10);
  EXPECT_EQ(exceptions_of(runtime)[0].exceptions.size(), 1u);
  runtime.put64(thread_at(1) + 320, 0x10);
  EXPECT_THAT(exceptions_of(runtime), IsEmpty());
}

TEST(NewestFrames, AreOfOneMoment) {
  CodeMapBuilder runtime;
  put_threads(runtime, 2);
  ContractDescriptor descriptor = whole_descriptor(runtime);
  descriptor.add_offset("Thread", "Frame", 64);
  const auto put = [&](std::uint64_t first, std::uint64_t second) {
    runtime.put64(thread_at(1) + 64, first);
    runtime.put64(thread_at(2) + 64, second);
  };
  RuntimeReader reader(runtime.memory, descriptor);
  NewestFrames frames;
  put(0x100, 0x200);
  EXPECT_EQ(frames.of(reader, 101), 0x100u);
  const auto run = [&](std::uint64_t first, std::uint64_t second) {
    put(first, second);
    reader.drop();
  };
  run(0x110, 0x210);
  EXPECT_EQ(frames.of(reader, 102), 0x200u);
  EXPECT_EQ(frames.of(reader, 103), std::nullopt);
  frames.target_ran();
  EXPECT_EQ(frames.of(reader, 102), 0x210u);
  run(0x120, 0x220);
  frames.note(reader);
  run(0x130, 0x230);
  frames.target_ran();
  EXPECT_EQ(frames.of(reader, 101), 0x120u) << "the copies of the stacks are of that moment";
}

TEST(RuntimeThreads, RoomForFutureObjects) {
  CodeMapBuilder runtime;
  put_threads(runtime, 1);
  constexpr std::uint64_t kLocals = 0x1'8000'0000;
  runtime.put64(thread_at(1) + 32, kLocals);
  runtime.put64(kLocals + 8, 0x4000);
  runtime.put64(kLocals + 16, 0x5000);
  const AllocationRoom room = allocation_room({runtime.memory, whole_descriptor(runtime)}, thread_at(1));
  EXPECT_EQ(room.begin, 0x4000u);
  EXPECT_EQ(room.limit, 0x5000u);
}

// A sync block's address and its object's.
std::uint64_t block_at(std::uint32_t number) { return 0x1'9000'0000 + 0x100 * std::uint64_t{number}; }
std::uint64_t object_at(std::uint32_t number) { return 0x1'A000'0000 + 0x100 * std::uint64_t{number}; }

void put_block(CodeMapBuilder& runtime, std::uint32_t number, std::uint32_t state, std::uint64_t owner,
               std::uint32_t recursion = 1) {
  const std::uint64_t entry = CodeMapBuilder::kSyncTable + 16 * std::uint64_t{number};
  runtime.put64(entry, block_at(number));
  runtime.put64(entry + 8, object_at(number));
  runtime.put32(object_at(number) - 4, 0x0800'0000 | number);
  runtime.put32(block_at(number), state);
  runtime.put32(block_at(number) + 4, recursion);
  runtime.put64(block_at(number) + 8, owner);
  runtime.put32(block_at(number) + 28, 0x8000'0000 | number);
  runtime.put64(block_at(number) + 72, 0);
}

class SyncBlocks : public testing::Test {
 protected:
  SyncBlocks() {
    put_threads(runtime, 2);
    runtime.put64(CodeMapBuilder::variable(4), CodeMapBuilder::kSyncTable);
  }
  ClrSyncBlocks found(std::uint32_t first = 1) {
    const RuntimeReader reader(runtime.memory, whole_descriptor(runtime));
    return contract_sync_blocks(reader, runtime_threads(reader), first);
  }
  CodeMapBuilder runtime;
};

TEST_F(SyncBlocks, HeldOneWaitedForAndFree) {
  put_block(runtime, 1, 1, 2, 3);
  put_block(runtime, 2, 0, 0);                                    // nobody holds it
  runtime.put64(CodeMapBuilder::kSyncTable + 16 * 3 + 8, 9);      // free
  put_block(runtime, 4, 1 << 6, 0);                               // one thread waits to enter
  put_block(runtime, 5, 0, 0);
  runtime.put64(block_at(5) + 72, 0x1234);                        // one waits for a pulse
  EXPECT_EQ(found().blocks,
            (std::vector<ClrSyncBlock>{{block_at(1), object_at(1), thread_at(2), 3, true},
                                       {block_at(4), object_at(4), 0, 0, false},
                                       {block_at(5), object_at(5), 0, 0, false}}));
  EXPECT_FALSE(found().unreadable);
  EXPECT_EQ(found(2).blocks.size(), 2u);
}

TEST_F(SyncBlocks, OwnerOfNet9IsThePointer) {
  put_block(runtime, 1, 1, thread_at(1));
  ContractDescriptor descriptor = CodeMapBuilder::descriptor();
  descriptor.add_offset("SyncBlock", "OwnerThread", 8);
  ASSERT_EQ(complete(descriptor, runtime.memory, 0), "");
  const RuntimeReader reader(runtime.memory, descriptor);
  const ClrSyncBlocks blocks = contract_sync_blocks(reader, runtime_threads(reader), 1);
  ASSERT_EQ(blocks.blocks.size(), 1u);
  EXPECT_EQ(blocks.blocks[0].owner, thread_at(1));
}

TEST_F(SyncBlocks, EntriesThatNameNoOther) {
  put_block(runtime, 1, 1, 2);
  runtime.put32(object_at(1) - 4, 0x0800'0002);  // the object names another entry
  put_block(runtime, 2, 1, 2);
  runtime.put32(block_at(2) + 28, 7);  // the sync block names another entry
  put_block(runtime, 3, 1, 2);
  runtime.put32(object_at(3) - 4, 0x0C00'0003);  // a hash code
  EXPECT_THAT(found().blocks, IsEmpty());
}

TEST_F(SyncBlocks, NoTable) {
  runtime.put64(CodeMapBuilder::variable(4), 0);
  EXPECT_TRUE(found().unreadable);
  runtime.put64(CodeMapBuilder::variable(4), 0x10);
  EXPECT_TRUE(found().unreadable);
}

constexpr std::uint64_t kGc = 0x1'B000'0000, kGcValues = 0x1'B001'0000, kSegment = 0x1'B002'0000;

// GcDacVars: all fields but the first three are the addresses of variables.
void put_heap(CodeMapBuilder& runtime, ContractDescriptor& descriptor, bool server) {
  descriptor.add_global("GcDacVars", kGc);
  runtime.put64(kGc, kGc + 0x100);
  const std::uint64_t at = kGc + 0x100;
  runtime.put64(at, 0x0402);  // version 2.4
  runtime.put64(at + 8, 0x200);
  runtime.put64(at + 16, 5);
  const auto variable = [&](std::uint64_t number, std::uint64_t value) {
    runtime.put64(at + 8 * number, kGcValues + 0x100 * number);
    runtime.put64(kGcValues + 0x100 * number, value);
  };
  for (std::uint64_t number = 3; number < 32; ++number) variable(number, 0);
  variable(10, kSegment);
  variable(15, 0x6000);
  // A heap of its own has these fields, too, at the places that a table names.
  const std::uint64_t heap = kGcValues + 0x8000;
  const std::uint64_t generations = server ? heap + 0x800 : kGcValues + 0x600;
  variable(22, 1);
  runtime.put64(kGcValues + 0x9000, heap);
  variable(23, kGcValues + 0x9000);
  if (!server) {
    runtime.put64(at + 8 * 22, 0);
    runtime.put64(at + 8 * 23, 0);
  }
  runtime.put64(heap + 0x10, 0x6000);
  runtime.put64(heap + 0x18, kSegment);
  for (std::uint64_t i = 0; i < 20; ++i) runtime.put32(kGcValues + 0x1E00 + 4 * i, ~0u);
  runtime.put32(kGcValues + 0x1E00, 0x10);
  runtime.put32(kGcValues + 0x1E00 + 4, 0x18);
  runtime.put32(kGcValues + 0x1E00 + 4 * 18, 0x800);
  runtime.put32(kGcValues + 0x1F00, 0x40);       // of a generation: its context,
  runtime.put32(kGcValues + 0x1F00 + 4, 0x60);   // and its first segment
  for (std::uint64_t i = 0; i < 5; ++i) runtime.put64(generations + 0x200 * i + 0x60, i == 0 ? kSegment : 0);
  runtime.put64(generations + 0x40, 0x5800);
  runtime.put64(generations + 0x48, 0x5900);
  const std::uint64_t segment[] = {0x5000, 0x7000, 0x9000, 0x7000, 0x4000, 0, kSegment + 0x100, 0, 0};
  const std::uint64_t next[] = {0xA800, 0xB000, 0xC000, 0xB000, 0xA000, 0, kSegment, 0, 0};
  for (std::uint64_t i = 0; i < 9; ++i) {
    runtime.put64(kSegment + 8 * i, segment[i]);
    runtime.put64(kSegment + 0x100 + 8 * i, next[i]);
  }
}

class Heap : public testing::TestWithParam<bool> {};

TEST_P(Heap, SegmentsAndRoom) {
  CodeMapBuilder runtime;
  ContractDescriptor descriptor = whole_descriptor(runtime);
  put_heap(runtime, descriptor, GetParam());
  const RuntimeReader reader(runtime.memory, descriptor);
  const HeapDeadline later = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  const ManagedHeap heap = contract_heap(reader, {}, later);
  // The objects of the segment in which new ones are made end where the collector says.
  EXPECT_THAT(heap.parts, ElementsAre(HeapPart{0x4000, 0x6000, 0x9000}, HeapPart{0xA000, 0xA800, 0xC000}));
  ASSERT_EQ(heap.types.free_room.count(0x5800), 1u);
  EXPECT_EQ(heap.types.free_room.at(0x5800), 0x5900u + 24);
}

INSTANTIATE_TEST_SUITE_P(Both, Heap, testing::Bool(),
                         [](const auto& info) { return info.param ? "Server" : "Workstation"; });

TEST(HeapData, UnknownVersionOrACollection) {
  const HeapDeadline later = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  CodeMapBuilder runtime;
  ContractDescriptor descriptor = whole_descriptor(runtime);
  put_heap(runtime, descriptor, false);
  runtime.put64(kGc + 0x100, 0x0003);
  EXPECT_THAT(contract_heap({runtime.memory, descriptor}, {}, later).parts, IsEmpty());
  runtime.put64(kGc + 0x100, 0x0402);
  runtime.put64(kGcValues + 0x100 * 24, 1);
  EXPECT_THAT(contract_heap({runtime.memory, descriptor}, {}, later).parts, IsEmpty());
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

TEST(ContractTables, ContractThatIsNewer) {
  const CodeMapBuilder runtime;
  const std::string text(CodeMapBuilder::kDescriptor);
  ContractDescriptor newer =
      CodeMapBuilder::descriptor(replaced(text, "\"ExecutionManager\":2", "\"ExecutionManager\":\"c3\""));
  EXPECT_EQ(complete(newer, runtime.memory, 0),
            "the runtime's contract ExecutionManager c3 is newer than this mixwalk");
  ContractDescriptor forged = CodeMapBuilder::descriptor(
      replaced(text, "\"Thread\":1", "\"Thread\":\"" + std::string(5000, '9') + "\""));
  EXPECT_EQ(complete(forged, runtime.memory, 0),
            "the runtime's contract Thread " + std::string(40, '9') + "… is newer than this mixwalk");
  ContractDescriptor format = CodeMapBuilder::descriptor(replaced(text, "\"version\":0", "\"version\":2"));
  EXPECT_EQ(complete(format, runtime.memory, 0),
            "the format of the runtime's data contracts, version 2, is newer than this mixwalk");
  ContractDescriptor less = CodeMapBuilder::descriptor(replaced(text, "\"Loader\":1,", ""));
  EXPECT_EQ(complete(less, runtime.memory, 0), "the runtime does not have the contract Loader");
}

TEST(ContractTables, WhatNet9DoesNotDescribe) {
  CodeMapBuilder runtime;
  constexpr std::uint64_t kTable = 0x1'C000'0000;
  runtime.put64(kTable, CodeMapBuilder::kMap);
  runtime.put64(kTable + 8 * 20, kGc);
  auto descriptor = ContractDescriptor::parse(
      R"({"version":0,"contracts":{"EcmaMetadata":1,"Loader":1,"Object":1,"RuntimeTypeSystem":1,"Thread":1}})", {});
  ASSERT_TRUE(descriptor);
  EXPECT_EQ(complete(*descriptor, runtime.memory, kTable), "");
  EXPECT_EQ(descriptor->offset("Module", "ReadyToRunInfo"), 600u);
  EXPECT_EQ(descriptor->contract("ExecutionManager"), "1");
  EXPECT_EQ(descriptor->global("ExecutionManagerCodeRangeMapAddress"), CodeMapBuilder::kMap);
  EXPECT_EQ(descriptor->global("GcDacVars"), kGc);
  EXPECT_EQ(descriptor->global("StubCodeBlockLast"), 0xFu);
}

TEST(ContractTables, NoRuntimeAtTheAddress) {
  const CodeMapBuilder runtime;
  const auto known = known_contracts(runtime.memory, 0x10000);
  ASSERT_FALSE(known);
  EXPECT_EQ(known.failure().message,
            "the runtime's image is not in memory; name the folder with coreclr.dll of its build with --symbol-path");
}

// .NET 8 has the table only. A small dump may have the exports, and not the descriptor behind them.
TEST(ContractTables, WhyARuntimeIsNotRead) {
  const auto why = [](const char* name, bool is_there) {
    const std::vector<std::byte> file = test::ImageBuilder().export_name(name, test::ImageBuilder::kData).build();
    test::PagedMemory memory;
    for (std::size_t i = 0; i < 0x400; ++i) memory.put(i, file.at(i));
    const std::size_t exports = test::ImageBuilder::offset_of(file, test::ImageBuilder::kExports);
    for (std::size_t i = 0; i < 0x100; ++i) memory.put(test::ImageBuilder::kExports + i, file.at(exports + i));
    for (std::size_t i = 0; i < (is_there ? 0x40 : 0); ++i) memory.put(test::ImageBuilder::kData + i, std::byte{1});
    return known_contracts(memory, 0).failure().message;
  };
  EXPECT_EQ(why("g_dacTable", true), "the runtime does not describe its data");
  EXPECT_EQ(why("DotNetRuntimeContractDescriptor", false),
            "the runtime's data contracts are not in memory; name the folder with coreclr.dll of its build with "
            "--symbol-path");
  EXPECT_EQ(why("DotNetRuntimeContractDescriptor", true),
            "the runtime's data contracts are damaged, or only a part of them is in memory");
}

TEST(ContractTables, DotNetFrameworkHasNone) {
  test::StandingTarget target;
  target.runtime_of = {.name = ".NET Framework", .major = 4};
  const OpenedClr opened = open_contracts(target, RuntimeSource::automatic);
  EXPECT_EQ(opened.questions, nullptr);
  EXPECT_EQ(opened.obstacle, ".NET Framework does not describe its data");
}

}  // namespace
}  // namespace mixwalk
