#include "symbols/calls/call_sites.h"

#include <gtest/gtest.h>

#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

constexpr std::uint32_t kCode = ImageBuilder::kCode;

class CallSites : public testing::Test {
 protected:
  // Puts an instruction that ends at kCode + 0x40, in a function that begins at kCode.
  void put(const std::vector<std::uint8_t>& instruction) {
    const std::uint32_t at = kCode + 0x40 - static_cast<std::uint32_t>(instruction.size());
    bytes_ = ImageBuilder().put_code(at, instruction).function(kCode, kCode + 0x80).build();
    image_ = PeImage::parse(bytes_);
  }
  std::vector<CallBefore> found() { return calls_before(image_, kCode + 0x40, disassembler_); }
  SweepResult sweep() { return sweep_to(image_, kCode + 0x40, disassembler_); }

  std::vector<std::byte> bytes_;
  PeImage image_;
  Disassembler disassembler_;
};

TEST_F(CallSites, DirectCallSaysWhereItLeads) {
  put({0xE8, 0x10, 0, 0, 0});
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].rva, kCode + 0x3B);
  EXPECT_EQ(found()[0].instruction.target, FlowInstruction::Target::direct);
  EXPECT_EQ(found()[0].instruction.address, kCode + 0x50);
  EXPECT_EQ(sweep().found, Sweep::call);
  EXPECT_EQ(sweep().rva, kCode + 0x3B);
}

TEST_F(CallSites, CallThroughASlotSaysWhichOne) {
  put({0xFF, 0x15, 0x40, 0, 0, 0});
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].instruction.target, FlowInstruction::Target::slot);
  EXPECT_EQ(found()[0].instruction.address, kCode + 0x80);
}

TEST_F(CallSites, CallThroughARegisterLeadsToAnUnknownPlace) {
  put({0xFF, 0xD0});
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].instruction.target, FlowInstruction::Target::unknown);
}

TEST_F(CallSites, SystemCallCounts) {
  put({0x0F, 0x05});
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].instruction.kind, FlowInstruction::Kind::system_call);
}

TEST_F(CallSites, LongestCallsAreFound) {
  put({0x41, 0xFF, 0x94, 0xC8, 0x10, 0, 0, 0});  // call [r8 + rcx*8 + 0x10]; without its first byte, a call with rax as
                                                 // the base
  ASSERT_EQ(found().size(), 2u);
  EXPECT_EQ(found()[1].rva, kCode + 0x38);
  EXPECT_EQ(sweep().rva, kCode + 0x38);
}

TEST_F(CallSites, CallThatEndsBeforeTheAddressIsNone) {
  put({0xFF, 0xD0, 0x90});
  EXPECT_TRUE(found().empty());
  EXPECT_EQ(sweep().found, Sweep::no_call);
}

TEST_F(CallSites, OtherInstructionsAreNoCalls) {
  put({0xFF, 0xE0});  // jmp rax
  EXPECT_TRUE(found().empty());
  EXPECT_EQ(sweep().found, Sweep::no_call);
}

// The code is mov eax, 0xD0FF9090. Its last two bytes look like `call rax`.
TEST_F(CallSites, BytesThatOnlyLookLikeACallAreToldByTheFunctionsOwnInstructions) {
  put({0xB8, 0x90, 0x90, 0xFF, 0xD0});
  EXPECT_EQ(found().size(), 1u);
  EXPECT_EQ(sweep().found, Sweep::no_call);
}

TEST_F(CallSites, BytesThatAreNoInstructionsSayNothing) {
  put({0x06, 0x90, 0xFF, 0xD0});  // 06 is not an instruction in 64-bit code
  EXPECT_EQ(found().size(), 1u);
  EXPECT_EQ(sweep().found, Sweep::unknown);
}

TEST_F(CallSites, NoCallIsFoundBeforeTheCodeOrBehindIt) {
  put({0x90});
  EXPECT_TRUE(calls_before(image_, 0, disassembler_).empty());
  EXPECT_TRUE(calls_before(image_, kCode, disassembler_).empty());
  EXPECT_TRUE(calls_before(image_, ImageBuilder::kSizeOfImage, disassembler_).empty());
  EXPECT_TRUE(calls_before(image_, UINT32_MAX, disassembler_).empty());
  EXPECT_EQ(sweep_to(image_, 0, disassembler_).found, Sweep::unknown);
}

}  // namespace
}  // namespace mixwalk
