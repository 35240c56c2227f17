#include "walker/naming/check_calls.h"

#include <gtest/gtest.h>

#include "tests/builders/image_builder.h"
#include "walker/model/counters.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

constexpr std::uint64_t kBase = 0x1'8000'0000, kLost = 0x2'8000'0000;
constexpr std::uint32_t kCode = ImageBuilder::kCode;

// One image with two calls: the call before kCode + 8 leads to its own function at kCode + 0x20, and the call before
// kCode + 0x10 to an import from lost.dll, whose file cannot be read.
class OneImage final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    ImageBuilder builder;
    if (path == "C:\\lost.dll" && found) {
      // "wait" ends with a jump to the function behind it.
      builder.function(kCode + 0x20, kCode + 0x40).function(kCode + 0x40, kCode + 0x60);
      return builder.put_code(kCode + 0x3B, {0xE9, 0, 0, 0, 0}).export_name("wait", kCode + 0x20).build();
    }
    if (path != "C:\\built.dll") return std::nullopt;
    builder.function(kCode, kCode + 0x20).function(kCode + 0x20, kCode + 0x40).import("lost.dll", "wait");
    builder.put_code(kCode + 3, {0xE8, 0x18, 0, 0, 0}).put_code(kCode + 0x3F, {0xC3});
    builder.put_code(kCode + 0xA, {0xFF, 0x15, 0, 0x20, 0, 0});
    return builder.build();
  }
  bool found = false;  // whether lost.dll can be read
};

class CheckCalls : public testing::Test {
 protected:
  CheckCalls() {
    snapshot_.modules = {{kBase, ImageBuilder::kSizeOfImage, ImageBuilder::kTimestamp, "C:\\built.dll"},
                         {kLost, 0x10000, 1, "C:\\lost.dll"}};
    snapshot_.threads.emplace_back();
  }
  static StackFrame native(std::uint32_t rva, AddressKind kind = AddressKind::return_address) {
    return {{.address_kind = kind, .address = kBase + rva, .module = 0}};
  }
  std::vector<StackFrame>& frames() { return snapshot_.threads[0].stack.frames; }
  void check() {
    Symboliser symboliser(files_, files_);
    CallChecker checker(symboliser, loaded_images(snapshot_));
    check_calls(snapshot_, checker);
  }

  OneImage files_;
  Snapshot snapshot_;
};

TEST_F(CheckCalls, NativeReturnAddressesAreHeldAgainstTheFrameAbove) {
  frames() = {native(kCode + 0x30, AddressKind::instruction_pointer), native(kCode + 8),
              native(kCode + 0x18)};
  check();
  EXPECT_EQ(frames()[0].call, CallCheck::unchecked);
  EXPECT_EQ(frames()[1].call, CallCheck::verified);
  EXPECT_EQ(frames()[2].call, CallCheck::no_call);
  const Counters counters = count(snapshot_);
  EXPECT_EQ(counters.calls_checked(), 2u);
  EXPECT_DOUBLE_EQ(counters.calls_verified(), 0.5);
}

TEST_F(CheckCalls, InlinedCallsAreNoFramesOfTheChain) {
  StackFrame inlined = native(kCode + 0x30);
  inlined.inline_depth = 1;
  StackFrame above_inlined = inlined;
  above_inlined.address = kBase + kCode + 8;
  frames() = {inlined, native(kCode + 0x30, AddressKind::instruction_pointer), above_inlined,
              native(kCode + 8)};
  check();
  EXPECT_EQ(frames()[2].call, CallCheck::unchecked);
  EXPECT_EQ(frames()[3].call, CallCheck::verified);
}

TEST_F(CheckCalls, FrameBelowAGapIsAfterSomeCall) {
  frames() = {
      native(kCode + 0x50, AddressKind::instruction_pointer), Frame{.kind = FrameKind::gap}, native(kCode + 8)};
  check();
  EXPECT_EQ(frames()[2].call, CallCheck::possible);
}

TEST_F(CheckCalls, ManagedFramesAndStubsAreNotChecked) {
  StackFrame managed = native(kCode + 0x18);
  managed.kind = FrameKind::managed;
  StackFrame stub = native(kCode + 0x18);
  stub.kind = FrameKind::stub;
  frames() = {managed, stub, Frame{.address_kind = AddressKind::return_address, .address = 0x1234}};
  check();
  for (const StackFrame& frame : frames()) EXPECT_EQ(frame.call, CallCheck::unchecked);
}

TEST_F(CheckCalls, UnnamedFunctionThatIsImportedHasTheImportsName) {
  StackFrame lost{{.address = kLost + 0x1234, .module = 1}};
  frames() = {lost, native(kCode + 0x10)};
  check();
  EXPECT_EQ(frames()[0].name, "wait");
  EXPECT_EQ(frames()[0].symbol, SymbolKind::import);
  EXPECT_EQ(frames()[0].displacement, 0u);
  EXPECT_EQ(frames()[1].call, CallCheck::possible);
}

// Real case: RtlAcquireSRWLockExclusive of Windows 11 24H2 jumps to a function that only its PDB names.
TEST_F(CheckCalls, UnnamedFunctionThatTheImportJumpsToSaysSo) {
  files_.found = true;
  snapshot_.modules[1] = {kLost, ImageBuilder::kSizeOfImage, ImageBuilder::kTimestamp, "C:\\lost.dll"};
  StackFrame lost{{.address = kLost + kCode + 0x48, .module = 1}};
  frames() = {lost, native(kCode + 0x10)};
  check();
  EXPECT_EQ(frames()[0].name, "wait [tail call]");
  EXPECT_EQ(frames()[1].call, CallCheck::verified);
}

TEST_F(CheckCalls, FunctionThatHasOnlyAPlaceForANameGetsTheImports) {
  StackFrame lost{{.address = kLost + 0x1234, .module = 1, .name = "sub_1200", .symbol = SymbolKind::function_table,
                  .displacement = 0x34}};
  frames() = {lost, native(kCode + 0x10)};
  check();
  EXPECT_EQ(frames()[0].name, "wait");
  EXPECT_EQ(frames()[0].symbol, SymbolKind::import);
  EXPECT_EQ(frames()[0].displacement, 0u);
}

TEST_F(CheckCalls, PlaceInAnImportedFunctionCountsFromItsStart) {
  files_.found = true;
  snapshot_.modules[1] = {kLost, ImageBuilder::kSizeOfImage, ImageBuilder::kTimestamp, "C:\\lost.dll"};
  frames() = {Frame{.address = kLost + kCode + 0x28, .module = 1}, native(kCode + 0x10)};
  check();
  EXPECT_EQ(frames()[0].name, "wait");
  EXPECT_EQ(frames()[0].displacement, 8u);
  EXPECT_EQ(frames()[1].call, CallCheck::verified);
}

TEST_F(CheckCalls, ManagedFrameWithoutANameGetsNoImports) {
  StackFrame managed{{.kind = FrameKind::managed, .address = kLost + 0x1234, .module = 1}};
  frames() = {managed, native(kCode + 0x10)};
  check();
  EXPECT_EQ(frames()[0].name, "");
}

TEST_F(CheckCalls, NamedFunctionKeepsItsName) {
  StackFrame lost{{.address = kLost + 0x1234, .module = 1, .name = "its own", .symbol = SymbolKind::pdb}};
  frames() = {lost, native(kCode + 0x10)};
  check();
  EXPECT_EQ(frames()[0].name, "its own");
}

}  // namespace
}  // namespace mixwalk
