// The map of code sections, the maps of code heaps, and ReadyToRun images: what leads from an address to its method.

#include <gtest/gtest.h>

#include "tests/builders/code_map_builder.h"
#include "walker/clr/contracts/execution_map.h"
#include "walker/clr/contracts/nibble_map.h"
#include "walker/clr/contracts/range_map.h"
#include "walker/clr/contracts/ready_to_run.h"

namespace mixwalk {
namespace {

using test::CodeMapBuilder;

constexpr std::uint64_t kHeap = CodeMapBuilder::kHeap, kImage = CodeMapBuilder::kImage;

TEST(RangeMap, TheTopLevelIsInTheMap) {
  CodeMapBuilder runtime;
  const std::uint64_t low = runtime.add_section(kHeap, kHeap + 0x8000, 0x77, 0);
  const std::uint64_t high = runtime.add_section(kHeap + 0x8000, kHeap + 0x6'0000, 0, 0x88, 4);
  const RuntimeReader reader(runtime.memory, CodeMapBuilder::descriptor());
  const auto first = code_section_at(reader, kHeap + 0x7FFF);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->address, low);
  EXPECT_EQ(first->heap, 0x77u);
  EXPECT_FALSE(first->stubs);
  const auto second = code_section_at(reader, kHeap + 0x5'FFFF);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->address, high);
  EXPECT_EQ(second->module, 0x88u);
  EXPECT_TRUE(second->stubs);
  EXPECT_FALSE(code_section_at(reader, kHeap + 0x6'0000));
  EXPECT_FALSE(code_section_at(reader, kHeap - 1));
  EXPECT_FALSE(code_section_at(reader, 0));
  EXPECT_FALSE(code_section_at(reader, ~0ull));
}

TEST(RangeMap, PointersToCodeThatMayBeUnloadedHaveAMark) {
  CodeMapBuilder runtime;
  const std::uint64_t section = runtime.add_section(kHeap, kHeap + 0x1000, 0x77, 0, 1, 1);
  const RuntimeReader reader(runtime.memory, CodeMapBuilder::descriptor());
  const auto found = code_section_at(reader, kHeap);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->address, section);
}

TEST(RangeMap, SectionThatIsBeingDeleted) {
  CodeMapBuilder runtime;
  const std::uint64_t section = runtime.add_section(kHeap, kHeap + 0x1000, 0x77, 0);
  runtime.put64(section + 64, 1);
  const RuntimeReader reader(runtime.memory, CodeMapBuilder::descriptor());
  EXPECT_FALSE(code_section_at(reader, kHeap));
}

TEST(RangeMap, ListThatNeverEnds) {
  CodeMapBuilder runtime;
  const std::uint64_t fragment = runtime.add_section(kHeap, kHeap + 0x1000, 0x77, 0) + 0x100;
  runtime.put64(fragment, fragment);
  const RuntimeReader reader(runtime.memory, CodeMapBuilder::descriptor());
  EXPECT_FALSE(code_section_at(reader, kHeap + 0x1000));
}

TEST(NibbleMap, TheLastBeginningAtOrBeforeTheAddress) {
  CodeMapBuilder runtime;
  const std::uint64_t heap = runtime.add_heap();
  runtime.begin_code(0x40);
  runtime.begin_code(0x64);
  const RuntimeReader reader(runtime.memory, CodeMapBuilder::descriptor());
  for (const NibbleMapKind kind : {NibbleMapKind::linear, NibbleMapKind::constant_time}) {
    EXPECT_EQ(code_start_at(reader, heap, kHeap + 0x3F, kind), std::nullopt);
    EXPECT_EQ(code_start_at(reader, heap, kHeap + 0x40, kind), kHeap + 0x40);
    EXPECT_EQ(code_start_at(reader, heap, kHeap + 0x63, kind), kHeap + 0x40);
    EXPECT_EQ(code_start_at(reader, heap, kHeap + 0x64, kind), kHeap + 0x64);
    EXPECT_EQ(code_start_at(reader, heap, kHeap + 0x101, kind), kHeap + 0x64);
    EXPECT_EQ(code_start_at(reader, heap, kHeap + 0x10'0001, kind), std::nullopt);
    EXPECT_EQ(code_start_at(reader, heap, kHeap - 1, kind), std::nullopt);
  }
}

TEST(NibbleMap, LongCode) {
  CodeMapBuilder runtime;
  const std::uint64_t heap = runtime.add_heap();
  runtime.begin_code(0x4C);
  const RuntimeReader linear(runtime.memory, CodeMapBuilder::descriptor());
  EXPECT_EQ(code_start_at(linear, heap, kHeap + 0x8'1234, NibbleMapKind::linear), kHeap + 0x4C);
  EXPECT_EQ(code_start_at(linear, heap, kHeap + 0x8'1234, NibbleMapKind::constant_time), std::nullopt);
  runtime.cover(0x8'1100, 0x4C);
  const RuntimeReader constant(runtime.memory, CodeMapBuilder::descriptor());
  EXPECT_EQ(code_start_at(constant, heap, kHeap + 0x8'1134, NibbleMapKind::constant_time), kHeap + 0x4C);
  // The 256 bytes behind are the end of the same code.
  EXPECT_EQ(code_start_at(constant, heap, kHeap + 0x8'1234, NibbleMapKind::constant_time), kHeap + 0x4C);
}

TEST(ExecutionMap, CodeThatWasCompiledMeanwhile) {
  CodeMapBuilder runtime;
  runtime.add_heap();
  runtime.begin_code(0x40);
  runtime.put_header(0x40, 0x2'0000'0000, 0x7777, 0x8888);
  const RuntimeReader reader(runtime.memory, CodeMapBuilder::descriptor());
  const auto block = code_block_at(reader, kHeap + 0x55);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->code,
            (ClrCode{.method = 0x7777, .start = kHeap + 0x40, .gc_info = 0x8888, .jitted = true}));
  EXPECT_EQ(block->offset, 0x15u);
  EXPECT_EQ(block->header, 0x2'0000'0000u);
}

TEST(ExecutionMap, StubsHaveANumberInPlaceOfAHeader) {
  CodeMapBuilder runtime;
  runtime.add_heap();
  runtime.begin_code(0x40);
  runtime.put64(kHeap + 0x38, 1);
  const RuntimeReader reader(runtime.memory, CodeMapBuilder::descriptor());
  EXPECT_FALSE(code_block_at(reader, kHeap + 0x44));
  EXPECT_EQ(stub_kind_at(reader, kHeap + 0x44), "JumpStub");
  EXPECT_EQ(stub_kind_at(reader, kHeap + 0x20), "");
}

TEST(ReadyToRun, MethodFuncletAndNoMethod) {
  CodeMapBuilder runtime;
  runtime.add_image({{0x1000, 0x1080, 0}, {0x1080, 0x10C0, 0}, {0x1100, 0x1180, 0}});
  runtime.add_method(0x1000, 0x5000);
  runtime.add_method(0x1100, 0x6000);
  const RuntimeReader reader(runtime.memory, CodeMapBuilder::descriptor());
  const auto method = code_block_at(reader, kImage + 0x1042);
  ASSERT_TRUE(method);
  EXPECT_EQ(method->code, (ClrCode{.method = 0x5000, .start = kImage + 0x1000, .image_base = kImage}));
  EXPECT_EQ(method->offset, 0x42u);
  EXPECT_EQ(method->ready_to_run, CodeMapBuilder::kInfo);
  EXPECT_EQ(method->code.image_base, kImage);
  EXPECT_EQ(method->function, 0u);
  const auto funclet = code_block_at(reader, kImage + 0x10A0);
  ASSERT_TRUE(funclet);
  EXPECT_EQ(funclet->code.method, 0x5000u);
  EXPECT_EQ(funclet->offset, 0xA0u);
  const auto last = code_block_at(reader, kImage + 0x1100);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->code.method, 0x6000u);
  EXPECT_EQ(last->function, 2u);
  EXPECT_FALSE(code_block_at(reader, kImage + 0xFFF));
}

TEST(ReadyToRun, ColdPart) {
  CodeMapBuilder runtime;
  runtime.add_image({{0x1000, 0x1080, 0}, {0x1100, 0x1180, 0}, {0x2000, 0x2040, 0}, {0x2040, 0x2060, 0}}, {2, 0});
  runtime.add_method(0x1000, 0x5000);
  runtime.add_method(0x1100, 0x6000);
  const RuntimeReader reader(runtime.memory, CodeMapBuilder::descriptor());
  const auto cold = code_block_at(reader, kImage + 0x2010);
  ASSERT_TRUE(cold);
  EXPECT_EQ(cold->code, (ClrCode{.method = 0x5000,
                                 .start = kImage + 0x1000,
                                 .cold_start = kImage + 0x2000,
                                 .image_base = kImage}));
  EXPECT_EQ(cold->offset, 0x90u);
  const auto cold_funclet = code_block_at(reader, kImage + 0x2050);
  ASSERT_TRUE(cold_funclet);
  EXPECT_EQ(cold_funclet->code.method, 0x5000u);
  const auto hot = code_block_at(reader, kImage + 0x1010);
  ASSERT_TRUE(hot);
  EXPECT_EQ(hot->code.cold_start, kImage + 0x2000);
  EXPECT_EQ(hot->offset, 0x10u);
}

TEST(ReadyToRun, ManyMethodsInFewBuckets) {
  CodeMapBuilder runtime;
  std::vector<FunctionEntry> functions;
  for (std::uint32_t i = 0; i < 28; ++i) functions.push_back({0x1000 + 0x10 * i, 0x1010 + 0x10 * i, 0});
  runtime.add_image(functions);
  for (std::uint32_t i = 0; i < 28; ++i) runtime.add_method(0x1000 + 0x10 * i, 0x5000 + 0x10 * i);
  const RuntimeReader reader(runtime.memory, CodeMapBuilder::descriptor());
  for (std::uint32_t i = 0; i < 28; ++i) {
    const auto block = code_block_at(reader, kImage + 0x1008 + 0x10 * i);
    ASSERT_TRUE(block) << i;
    EXPECT_EQ(block->code.method, 0x5000 + 0x10 * i);
  }
}

TEST(ReadyToRun, CompositeImageHasOneMapForAllItsModules) {
  CodeMapBuilder runtime;
  runtime.add_image({{0x1000, 0x1080, 0}});
  runtime.add_method(0x1000, 0x5000);
  // The module's own information leads to that of the whole image, which has the map.
  constexpr std::uint64_t kPart = CodeMapBuilder::kModule + 0x8000;
  runtime.put64(CodeMapBuilder::kModule + 608, kPart);
  runtime.put64(kPart + 40, CodeMapBuilder::kInfo);
  runtime.put64(kPart + 80, CodeMapBuilder::kInfo + 0x1000);
  runtime.put32(kPart + 88, 1);
  runtime.put64(kPart + 96, 0);
  runtime.put64(kPart + 104, 0);
  const RuntimeReader reader(runtime.memory, CodeMapBuilder::descriptor());
  const auto block = code_block_at(reader, kImage + 0x1010);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->code.method, 0x5000u);
  EXPECT_EQ(block->ready_to_run, CodeMapBuilder::kInfo);
}

TEST(ReadyToRun, Thunks) {
  CodeMapBuilder runtime;
  runtime.add_image({{0x1000, 0x1080, 0}});
  runtime.add_method(0x1000, 0x5000);
  runtime.put64(CodeMapBuilder::kInfo + 112, CodeMapBuilder::kInfo + 0x800);
  runtime.put32(CodeMapBuilder::kInfo + 0x800, 0x1040);
  runtime.put32(CodeMapBuilder::kInfo + 0x804, 0x20);
  const RuntimeReader reader(runtime.memory, CodeMapBuilder::descriptor());
  EXPECT_TRUE(code_block_at(reader, kImage + 0x103F));
  EXPECT_FALSE(code_block_at(reader, kImage + 0x1040));
  EXPECT_EQ(stub_kind_at(reader, kImage + 0x1050), "MethodCallThunk");
  EXPECT_TRUE(code_block_at(reader, kImage + 0x1060));
}

TEST(ReadyToRun, TablesThatLie) {
  CodeMapBuilder runtime;
  runtime.add_image({{0x1000, 0x1080, 0}});
  runtime.put32(CodeMapBuilder::kInfo + 88, ~0u);  // more functions than any image has
  EXPECT_FALSE(code_block_at({runtime.memory, CodeMapBuilder::descriptor()}, kImage + 0x1010));
  runtime.put32(CodeMapBuilder::kInfo + 88, 1'000'000);  // most of the table is not there
  EXPECT_FALSE(code_block_at({runtime.memory, CodeMapBuilder::descriptor()}, kImage + 0x1010));
  runtime.put32(CodeMapBuilder::kInfo + 88, 1);
  runtime.put32(CodeMapBuilder::kInfo + 0xA000, ~0u);  // more buckets than there is memory
  EXPECT_FALSE(code_block_at({runtime.memory, CodeMapBuilder::descriptor()}, kImage + 0x1010));
  runtime.put32(CodeMapBuilder::kInfo + 0xA000, CodeMapBuilder::kBuckets);
  for (std::uint64_t i = 0; i < CodeMapBuilder::kBuckets; ++i) {
    runtime.put64(CodeMapBuilder::kInfo + 0xA040 + 64 * i + 32, 1ull << 63);  // each search goes on
  }
  EXPECT_FALSE(code_block_at({runtime.memory, CodeMapBuilder::descriptor()}, kImage + 0x1010));
}

}  // namespace
}  // namespace mixwalk
