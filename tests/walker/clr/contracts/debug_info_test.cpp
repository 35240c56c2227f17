#include "walker/clr/contracts/debug_info.h"

#include <gtest/gtest.h>

#include "tests/builders/byte_writer.h"
#include "tests/builders/runtime_builder.h"
#include "walker/clr/contracts/code_versions.h"

namespace mixwalk {
namespace {

using test::ByteWriter;
using test::RuntimeBuilder;

// The map of il_bounds_test: prolog up to 4, IL 0 up to 10, then IL 16. Its header: 6 bytes of map, no variables.
ByteWriter nibble_map() { return ByteWriter().append({0x06, 0x03, 0x21, 0x34, 0x62, 0x3A, 0x02}); }

class DebugInfoTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kCode = 0x6000'0000;

  CodeBlock jitted(const ByteWriter& info) {
    const std::uint64_t header = built_.room(32);
    built_.put64(header + 8, built_.bytes(info.bytes()));
    return {.code = {.method = 1, .start = kCode, .jitted = true}, .header = header};
  }
  std::optional<std::uint32_t> il_at(const CodeBlock& block, std::uint32_t offset, const char* version = "1") {
    const auto descriptor = ContractDescriptor::parse(built_.descriptor(version), {});
    const RuntimeReader reader(built_.memory, descriptor.value());
    return il_offset_at(il_map_of(reader, block), offset);
  }
  bool is_of_replaced_il(const CodeBlock& block) {
    const RuntimeReader reader(built_.memory, ContractDescriptor::parse(built_.descriptor(), {}).value());
    return mixwalk::is_of_replaced_il(reader, block);
  }

  RuntimeBuilder built_;
};

TEST_F(DebugInfoTest, JittedCode) {
  const CodeBlock block = jitted(ByteWriter().u8(0).append(nibble_map().bytes()));
  EXPECT_EQ(il_at(block, 4), 0u);
  EXPECT_EQ(il_at(block, 50), 16u);
  EXPECT_NE(il_at(block, 50, "2"), 16u) << ".NET 10 has another form";
}

// What comes before the map: where the variables of code that can be replaced are (24 bytes and 4 for each of 3), and
// the calls that were inlined (their size, and 5 bytes).
TEST_F(DebugInfoTest, PatchpointsAndInlinedCallsAreSkipped) {
  ByteWriter info;
  info.u8(3).u32(0).u32(0).u32(0).u32(3).u64(kCode).zeros(3 * 4).u32(5).zeros(5).append(nibble_map().bytes());
  EXPECT_EQ(il_at(jitted(info), 50), 16u);
  info.set32(1 + 16, 0x1234);
  EXPECT_EQ(il_at(jitted(info), 50), std::nullopt) << "the patchpoints name other code, so their layout is unknown";
  EXPECT_EQ(il_at(jitted(ByteWriter().u8(4).append(nibble_map().bytes())), 50), std::nullopt) << "an unknown part";
}

TEST_F(DebugInfoTest, WithoutInformationThereIsNoMap) {
  CodeBlock block = jitted(ByteWriter().u8(0).append(nibble_map().bytes()));
  built_.put64(block.header + 8, 0);
  EXPECT_EQ(il_at(block, 4), std::nullopt);
  block.header = 0x10;
  EXPECT_EQ(il_at(block, 4), std::nullopt);
  EXPECT_EQ(il_at({}, 4), std::nullopt);
}

TEST_F(DebugInfoTest, AMapBeyondTheCodeIsRefused) {
  CodeBlock block = jitted(ByteWriter().u8(0).append(nibble_map().bytes()));
  block.code.hot_bytes = 8;
  EXPECT_EQ(il_at(block, 4), std::nullopt);
}

// Two functions in a ReadyToRun image: the second one shares the information of the first.
class ReadyToRunInfoTest : public DebugInfoTest {
 protected:
  CodeBlock image(std::uint16_t version, const ByteWriter& map, std::uint32_t function) {
    const std::uint64_t base = 0x5000'0000, section = base + 0x400;
    ByteWriter array;
    // Two elements, an index of one byte, and the nodes of the four bits: element 0 is on the side of 0 all the way,
    // and element 1 only differs in the last bit.
    array.u8((2 << 2) << 1).u8(1);
    for (int bit = 0; bit < 3; ++bit) array.u8((0 << 2 | 1) << 1);
    const std::size_t last = array.size(), first = last + 1 + 1 + map.size();
    array.u8(((first - last) << 2 | 3) << 1);
    array.u8(0);  // of element 0: its own information follows
    array.append(map.bytes());
    array.u8((map.size()) << 1);  // of element 1: that many bytes back
    for (std::size_t i = 0; i < array.size(); ++i) built_.memory.put(section + i, array.bytes()[i]);
    const std::uint64_t info = built_.room(16), header = base + 0x80;
    built_.put64(info + 8, header);
    built_.put32(header, 0x00525452);
    built_.put16(header + 4, version);
    built_.put32(header + 12, 2);
    built_.put32(header + 16, 100);
    built_.put32(header + 28, 105);
    built_.put32(header + 32, 0x400);
    return {.code = {.method = 1, .start = base, .image_base = base}, .ready_to_run = info, .function = function};
  }
};

TEST_F(ReadyToRunInfoTest, OwnAndSharedInformation) {
  for (const std::uint32_t function : {0u, 1u}) {
    EXPECT_EQ(il_at(image(9, nibble_map(), function), 50, "2"), 16u) << function;
  }
  EXPECT_EQ(il_at(image(9, nibble_map(), 2), 50, "2"), std::nullopt);
}

TEST_F(ReadyToRunInfoTest, TheImagesVersionSaysWhichForm) {
  // Packed: one entry of 2 + 1 + 3 bits, IL 4 (7).
  const auto packed = ByteWriter().append({0x03, 0x01, 0x02, 7 << 3});
  EXPECT_EQ(il_at(image(16, packed, 0), 50, "1"), 4u);
  EXPECT_NE(il_at(image(16, nibble_map(), 0), 50, "2"), 16u);
}

TEST_F(ReadyToRunInfoTest, AnImageWithoutTheSection) {
  const CodeBlock block = image(9, nibble_map(), 0);
  built_.put32(0x5000'0000 + 0x80 + 28, 104);
  EXPECT_EQ(il_at(block, 50), std::nullopt);
  built_.put32(0x5000'0000 + 0x80, 0);
  EXPECT_EQ(il_at(block, 50), std::nullopt);
}

TEST_F(DebugInfoTest, CodeOfReplacedIlIsFoundByItsVersion) {
  const std::uint64_t method = built_.method(built_.type(0, 1), 1);
  const std::uint64_t data = built_.room(16), state = built_.room(16);
  const std::uint64_t first = built_.room(32), second = built_.room(32);
  built_.put64(method + 16, data);
  built_.put64(data + 8, state);
  built_.put64(state + 8, first);
  for (const auto [node, next, code, version] :
       {std::array{first, second, kCode, std::uint64_t{0}}, std::array{second, first, kCode + 64, std::uint64_t{7}}}) {
    built_.put64(node, next);
    built_.put64(node + 8, method);
    built_.put64(node + 16, code);
    built_.put64(node + 24, version);
  }
  const auto at = [&](std::uint64_t start) { return CodeBlock{.code = {.method = method, .start = start}}; };
  EXPECT_FALSE(is_of_replaced_il(at(kCode)));
  EXPECT_TRUE(is_of_replaced_il(at(kCode + 64)));
  EXPECT_FALSE(is_of_replaced_il(at(kCode + 128))) << "the list is circular";
  built_.put64(second + 8, method + 8);
  EXPECT_FALSE(is_of_replaced_il(at(kCode + 64))) << "no version of this method";
}

}  // namespace
}  // namespace mixwalk
