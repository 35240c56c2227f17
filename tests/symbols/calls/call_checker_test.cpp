#include "symbols/calls/call_checker.h"

#include <gtest/gtest.h>

#include "tests/builders/fake_symboliser.h"
#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kBase = 0x7FF8'0000'0000, kOtherBase = 0x7FF9'0000'0000;
constexpr std::uint32_t kCode = ImageBuilder::kCode;
// Functions of 0x20 bytes each. The first one makes a call, which ends at kReturn.
constexpr std::uint32_t kReturn = kCode + 0x10, kSecond = kCode + 0x20, kThird = kCode + 0x40,
                        kFourth = kCode + 0x60;
const Bytes kRet = {0xC3};

class Files final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }
  std::map<std::string, std::vector<std::byte>> files;
};

// Appends the four bytes of a displacement, which counts from the end of the instruction, at `next`.
Bytes with_displacement(Bytes opcode, std::uint32_t next, std::uint32_t target) {
  const std::uint32_t displacement = target - next;
  for (int i = 0; i < 4; ++i) opcode.push_back(static_cast<std::uint8_t>(displacement >> 8 * i));
  return opcode;
}

class CallCheckerTest : public testing::Test {
 protected:
  CallCheckerTest() {
    for (const std::uint32_t begin : {kCode, kSecond, kThird, kFourth})
      builder_.function(begin, begin + 0x20);
    for (const std::uint32_t begin : {kSecond, kThird, kFourth}) end_with(begin, kRet);
  }

  // Puts the bytes at the end of the function.
  void end_with(std::uint32_t begin, const Bytes& bytes) {
    builder_.put_code(begin + 0x20 - static_cast<std::uint32_t>(bytes.size()), bytes);
  }
  void end_with_jump(std::uint32_t begin, std::uint32_t target) {
    end_with(begin, with_displacement({0xE9}, begin + 0x20, target));
  }
  void call(const Bytes& bytes) {
    builder_.put_code(kReturn - static_cast<std::uint32_t>(bytes.size()), bytes);
  }
  void call_to(std::uint32_t target) { call(with_displacement({0xE8}, kReturn, target)); }
  void call_slot(std::uint32_t slot) { call(with_displacement({0xFF, 0x15}, kReturn, slot)); }

  // The image of the caller is the first one, "C:\caller.dll"; `other` has its name and bytes.
  CallChecker& checker() {
    files_.files["C:\\caller.dll"] = builder_.build();
    std::vector<LoadedImage> images = {image("C:\\caller.dll", kBase)};
    if (!other_.empty()) images.push_back(image(other_, kOtherBase));
    checker_.reset();
    symboliser_.emplace(files_);  // the symboliser keeps the files that it has opened
    checker_.emplace(*symboliser_, std::move(images));
    return *checker_;
  }
  static LoadedImage image(const std::string& path, std::uint64_t base) {
    return {path, base, ImageBuilder::kSizeOfImage, ImageBuilder::kTimestamp};
  }
  void other(const std::string& path, ImageBuilder& builder) {
    other_ = path;
    files_.files[path] = builder.build();
  }

  CallChecker::Answer answer(std::uint32_t callee_rva, std::size_t callee_image = 0,
                             std::uint32_t return_rva = kReturn) {
    const std::uint64_t base = callee_image == 0 ? kBase : kOtherBase;
    const CallChecker::Callee above{callee_image, {base + callee_rva, AddressKind::return_address}};
    return checker().check(0, kBase + return_rva, &above);
  }
  CallCheck check(std::uint32_t callee_rva, std::size_t callee_image = 0) {
    return answer(callee_rva, callee_image).check;
  }

  ImageBuilder builder_;
  Files files_;
  std::string other_;
  std::optional<test::FakeSymboliser> symboliser_;
  std::optional<CallChecker> checker_;
};

TEST_F(CallCheckerTest, DirectCallOfTheFunctionAboveIsVerified) {
  call_to(kSecond);
  EXPECT_EQ(check(kSecond + 8), CallCheck::verified);
  EXPECT_EQ(check(kSecond + 0x20), CallCheck::verified);  // the address behind a last call that does not return
}

TEST_F(CallCheckerTest, DirectCallOfAnotherFunctionThatKeepsToItselfLeadsElsewhere) {
  call_to(kSecond);
  EXPECT_EQ(check(kThird + 8), CallCheck::elsewhere);
}

TEST_F(CallCheckerTest, FrameAfterAnotherInstructionIsAfterNoCall) {
  EXPECT_EQ(check(kSecond + 8), CallCheck::no_call);
  call({0xFF, 0xE0});
  EXPECT_EQ(check(kSecond + 8), CallCheck::no_call);
}

TEST_F(CallCheckerTest, CallThroughARegisterIsPossible) {
  call({0xFF, 0xD0});
  EXPECT_EQ(check(kSecond + 8), CallCheck::possible);
}

TEST_F(CallCheckerTest, TailCallIsFollowed) {
  call_to(kSecond);
  end_with_jump(kSecond, kThird);
  EXPECT_EQ(check(kThird + 8), CallCheck::verified);
  EXPECT_EQ(check(kFourth + 8), CallCheck::elsewhere);
}

TEST_F(CallCheckerTest, FunctionThatJumpsThroughARegisterMayLeadAnywhere) {
  call_to(kSecond);
  end_with(kSecond, {0xFF, 0xE0});
  EXPECT_EQ(check(kThird + 8), CallCheck::possible);
}

// gcc's .cold parts have a RUNTIME_FUNCTION of their own, which nothing connects with the function's.
TEST_F(CallCheckerTest, FurtherPartThatTheFunctionBranchesToIsVerified) {
  call_to(kSecond);
  builder_.put_code(kSecond, with_displacement({0x0F, 0x84}, kSecond + 6, kFourth + 4));
  EXPECT_EQ(check(kFourth + 8), CallCheck::verified);
}

TEST_F(CallCheckerTest, PartWithChainedUnwindDataIsTheFunctionItself) {
  builder_.chained(kCode + 0x80, kCode + 0xA0, kSecond, kSecond + 0x20);
  call_to(kSecond);
  EXPECT_EQ(check(kCode + 0x88), CallCheck::verified);
}

TEST_F(CallCheckerTest, ThunkWithoutUnwindDataIsFollowed) {
  builder_.put_code(kCode + 0xF0, with_displacement({0xE9}, kCode + 0xF5, kThird));
  call_to(kCode + 0xF0);
  EXPECT_EQ(check(kThird + 8), CallCheck::verified);
  EXPECT_EQ(check(kSecond + 8), CallCheck::elsewhere);
}

TEST_F(CallCheckerTest, FunctionPointerMayLeadAnywhere) {
  call_slot(ImageBuilder::kData + 8);
  EXPECT_EQ(check(kSecond + 8), CallCheck::possible);
}

// The image has a hostile chain of thunks; real calls go through three or four.
TEST_F(CallCheckerTest, ChainLongerThanAnyIsNotFollowed) {
  constexpr std::uint32_t kChain = ImageBuilder::kMoreCode;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::uint32_t next = kChain + i * 5 + 5;
    builder_.put_code(next - 5, with_displacement({0xE9}, next, i == 99 ? kThird : next));
  }
  call_to(kChain + 90 * 5);
  EXPECT_EQ(check(kThird + 8), CallCheck::verified);
  call_to(kChain);
  EXPECT_EQ(check(kThird + 8), CallCheck::possible);
  EXPECT_EQ(check(kSecond + 8), CallCheck::possible);
}

// Leaf code is known to belong to its function up to its first return or jump.
TEST_F(CallCheckerTest, LeafCodeThatIsCalledIsKnownToItsFirstEnd) {
  constexpr std::uint32_t kLeaf = kCode + 0x80, kOtherGap = kCode + 0xD0;
  builder_.function(kCode + 0xA0, kCode + 0xC0).put_code(kLeaf + 8, kRet).put_code(kOtherGap, kRet);
  call_to(kLeaf);
  EXPECT_EQ(check(kLeaf + 6), CallCheck::verified);
  EXPECT_EQ(check(kLeaf + 0x10), CallCheck::possible) << "it may be a further part";
  EXPECT_EQ(check(kOtherGap), CallCheck::elsewhere) << "a function lies between";
  EXPECT_EQ(check(kSecond + 8), CallCheck::elsewhere) << "that one has unwind data";
  call_to(kFourth);
  EXPECT_EQ(check(kLeaf + 4), CallCheck::elsewhere) << "what is called has unwind data, and keeps to itself";
}

// The code is mov eax, 0xD0FF9090. Its last two bytes alone would be `call rax`.
TEST_F(CallCheckerTest, BytesThatOnlyLookLikeACallAreNone) {
  call({0xB8, 0x90, 0x90, 0xFF, 0xD0});
  EXPECT_EQ(check(kSecond + 8), CallCheck::no_call);
}

// The code is movabs rax, whose number ends with the bytes of `call kSecond`.
TEST_F(CallCheckerTest, CallThatIsProvenCountsWhateverTheFunctionReadsLike) {
  Bytes bytes = {0x48, 0xB8, 0x90, 0x90, 0x90};
  for (const std::uint8_t byte : with_displacement({0xE8}, kReturn, kSecond)) bytes.push_back(byte);
  call(bytes);
  EXPECT_EQ(check(kSecond + 8), CallCheck::verified);
  EXPECT_EQ(check(kThird + 8), CallCheck::no_call);
}

// Hooks are jumps into another image that are written into the loaded code.
TEST_F(CallCheckerTest, FunctionOfAnotherImageAboveIsPossible) {
  ImageBuilder hook;
  hook.function(kCode, kCode + 0x20);
  other("C:\\hook.dll", hook);
  call_to(kSecond);
  EXPECT_EQ(check(kCode + 8, 1), CallCheck::possible);
  EXPECT_EQ(check(kCode + 8, CallChecker::kNoImage), CallCheck::possible);
}

TEST_F(CallCheckerTest, SamePlaceOfAnotherImageIsAnotherFunction) {
  ImageBuilder hook;
  hook.function(kSecond, kSecond + 0x20);
  other("C:\\hook.dll", hook);
  call_to(kSecond);
  EXPECT_EQ(check(kSecond + 8, 1), CallCheck::possible);
}

class ImportedCall : public CallCheckerTest {
 protected:
  ImportedCall() {
    builder_.import("ORDERS.dll", "wait_for_reply");
    call_slot(ImageBuilder::import_slot(0));
    orders_.function(kCode, kCode + 0x20).function(kSecond, kSecond + 0x20).function(kThird, kThird + 0x20);
    for (const std::uint32_t begin : {kCode, kSecond, kThird}) orders_.put_code(begin + 0x1F, kRet);
  }
  void build_orders() { other("C:\\orders.dll", orders_); }

  ImageBuilder orders_;
};

TEST_F(ImportedCall, LeadsToTheExportOfItsName) {
  orders_.export_name("wait_for_reply", kSecond);
  build_orders();
  EXPECT_EQ(check(kSecond + 8, 1), CallCheck::verified);
  EXPECT_EQ(check(kThird + 8, 1), CallCheck::elsewhere);
  EXPECT_EQ(check(kThird + 8, 0), CallCheck::possible);  // the slot may have been changed
}

TEST_F(ImportedCall, TailCallThroughTheSlotIsFollowed) {
  orders_.export_name("wait_for_reply", kSecond);
  build_orders();
  call_to(kThird);
  end_with(kThird, with_displacement({0xFF, 0x25}, kThird + 0x20, ImageBuilder::import_slot(0)));
  EXPECT_EQ(check(kSecond + 8, 1), CallCheck::verified);
}

TEST_F(ImportedCall, OfTwoImagesWithTheNameTheOneAboveIsMeant) {
  orders_.export_name("wait_for_reply", kSecond);
  files_.files["C:\\caller.dll"] = builder_.build();
  files_.files["C:\\a\\orders.dll"] = files_.files["C:\\b\\orders.dll"] = orders_.build();
  test::FakeSymboliser symboliser(files_);
  CallChecker checker(symboliser, {image("C:\\caller.dll", kBase), image("C:\\a\\orders.dll", kOtherBase),
                                    image("C:\\b\\orders.dll", 2 * kOtherBase)});
  const auto check = [&](std::size_t of, std::uint64_t base, std::uint32_t rva) {
    const CallChecker::Callee above{of, {base + rva, AddressKind::return_address}};
    return checker.check(0, kBase + kReturn, &above).check;
  };
  EXPECT_EQ(check(1, kOtherBase, kSecond + 8), CallCheck::verified);
  EXPECT_EQ(check(2, 2 * kOtherBase, kSecond + 8), CallCheck::verified);
  EXPECT_EQ(check(0, kBase, kSecond + 8), CallCheck::possible);
}

TEST_F(ImportedCall, ExportThatDoesNotExistProvesNothing) {
  build_orders();
  EXPECT_EQ(check(kSecond + 8, 1), CallCheck::possible);
}

TEST_F(ImportedCall, ForwarderIsFollowed) {
  orders_.forward("wait_for_reply", "orders.other").export_name("other", kThird);
  build_orders();
  EXPECT_EQ(check(kThird + 8, 1), CallCheck::verified);
  EXPECT_EQ(check(kSecond + 8, 1), CallCheck::elsewhere);
}

TEST_F(ImportedCall, ForwarderToAnOrdinalIsFollowed) {
  orders_.forward("wait_for_reply", "orders.#6").export_name("other", kThird);
  build_orders();
  EXPECT_EQ(check(kThird + 8, 1), CallCheck::verified);
}

TEST_F(ImportedCall, ForwarderToAnImageWithDotsIsFollowed) {
  orders_.forward("wait_for_reply", "or.ders.dll.other");
  ImageBuilder dotted;
  dotted.function(kSecond, kSecond + 0x20).export_name("other", kSecond).put_code(kSecond + 0x1F, kRet);
  files_.files["C:\\caller.dll"] = builder_.build();
  files_.files["C:\\orders.dll"] = orders_.build();
  files_.files["C:\\or.ders.dll"] = dotted.build();
  test::FakeSymboliser symboliser(files_);
  CallChecker checker(symboliser, {image("C:\\caller.dll", kBase), image("C:\\orders.dll", kOtherBase),
                                    image("C:\\or.ders.dll", 2 * kOtherBase)});
  const CallChecker::Callee above{2, {2 * kOtherBase + kSecond + 8, AddressKind::return_address}};
  EXPECT_EQ(checker.check(0, kBase + kReturn, &above).check, CallCheck::verified);
}

TEST_F(CallCheckerTest, NameOfAnImportIsDemangled) {
  builder_.import("orders.dll", "_ZN6orders4waitEv");
  call_slot(ImageBuilder::import_slot(0));
  ImageBuilder orders;
  orders.function(kSecond, kSecond + 0x20).export_name("_ZN6orders4waitEv", kSecond);
  other("C:\\orders.dll", orders);
  EXPECT_EQ(answer(kSecond + 8, 1).import, "orders::wait()");
}

TEST_F(ImportedCall, ForwarderToItselfEnds) {
  orders_.forward("wait_for_reply", "orders.wait_for_reply");
  build_orders();
  EXPECT_EQ(check(kSecond + 8, 1), CallCheck::possible);
}

TEST_F(ImportedCall, ImageThatIsNotLoadedProvesNothing) {
  other("C:\\another.dll", orders_);
  EXPECT_EQ(check(kSecond + 8, 1), CallCheck::possible);
}

// The function has no name of its own; the export is the thunk in front of it.
TEST_F(ImportedCall, FunctionBehindAThunkHasTheImportsName) {
  orders_.put_code(kSecond, with_displacement({0xE9}, kSecond + 5, kThird))
      .export_name("wait_for_reply", kSecond);
  build_orders();
  const auto found = answer(kThird + 8, 1);
  EXPECT_EQ(found.check, CallCheck::verified);
  EXPECT_EQ(found.import, "wait_for_reply");
  EXPECT_FALSE(found.tail_call);
  EXPECT_EQ(found.import_displacement, 8u);
}

TEST_F(ImportedCall, ThunkBehindATailCallIsATailCall) {
  orders_.put_code(kSecond + 0x1B, with_displacement({0xE9}, kSecond + 0x20, kCode + 0x60));
  orders_.put_code(kCode + 0x60, with_displacement({0xE9}, kCode + 0x65, kThird));
  orders_.export_name("wait_for_reply", kSecond);
  build_orders();
  const auto found = answer(kThird + 8, 1);
  EXPECT_EQ(found.check, CallCheck::verified);
  EXPECT_EQ(found.import, "wait_for_reply");
  EXPECT_TRUE(found.tail_call);
  EXPECT_EQ(found.import_displacement, std::nullopt);
}

TEST_F(ImportedCall, FunctionThatATailCallLeadsToIsATailCall) {
  orders_.put_code(kSecond + 0x1B, with_displacement({0xE9}, kSecond + 0x20, kThird));
  orders_.export_name("wait_for_reply", kSecond);
  build_orders();
  const auto found = answer(kThird + 8, 1);
  EXPECT_EQ(found.check, CallCheck::verified);
  EXPECT_EQ(found.import, "wait_for_reply");
  EXPECT_TRUE(found.tail_call);
  EXPECT_EQ(found.import_displacement, std::nullopt);
}

// A linker may put a cold part in front of its function.
TEST_F(ImportedCall, PartBeforeTheFunctionHasTheImportsNameWithoutADisplacement) {
  orders_.chained(kCode + 0x80, kCode + 0xA0, kCode + 0xC0, kCode + 0xE0).function(kCode + 0xC0, kCode + 0xE0);
  orders_.export_name("wait_for_reply", kCode + 0xC0);
  build_orders();
  const auto found = answer(kCode + 0x88, 1);
  EXPECT_EQ(found.check, CallCheck::verified);
  EXPECT_EQ(found.import, "wait_for_reply");
  EXPECT_EQ(found.import_displacement, std::nullopt);
}

TEST_F(ImportedCall, ImageWhoseFileIsGoneHasTheImportsNameWithoutADisplacement) {
  other_ = "C:\\orders.dll";
  const auto found = answer(kSecond + 8, 1);
  EXPECT_EQ(found.check, CallCheck::possible);
  EXPECT_EQ(found.import, "wait_for_reply");
  EXPECT_EQ(found.import_displacement, std::nullopt);
}

TEST_F(ImportedCall, AnotherImageWhoseFileIsGoneHasNoName) {
  other_ = "C:\\another.dll";
  EXPECT_EQ(answer(kSecond + 8, 1).import, "");
}

TEST_F(CallCheckerTest, DelayedImportLeadsToTheFunctionAndToWhatLoadsIt) {
  builder_.import_delayed("late.dll", "Work", kFourth);
  call_slot(ImageBuilder::import_slot(0));
  ImageBuilder late;
  late.function(kCode, kCode + 0x20).export_name("Work", kCode).put_code(kCode + 0x1F, kRet);
  other("C:\\late.dll", late);
  EXPECT_EQ(check(kCode + 8, 1), CallCheck::verified);
  EXPECT_EQ(check(kFourth + 8), CallCheck::verified);
  EXPECT_EQ(answer(kFourth + 8).import, "") << "what loads it is not the import";
  EXPECT_EQ(check(kThird + 8), CallCheck::possible);
}

// In the file, the slot has an address that is valid for the preferred base.
TEST_F(CallCheckerTest, SlotOfADelayedImportCountsFromThePreferredBase) {
  builder_.import_delayed("late.dll", "Work", kFourth);
  call_slot(ImageBuilder::import_slot(0));
  auto file = builder_.build();
  const std::size_t slot = ImageBuilder::offset_of(file, ImageBuilder::import_slot(0));
  ImageBuilder::put32(file, ImageBuilder::kMagicAt + 24 + 4, 1);  // ImageBase: 4 GiB
  const auto check = [&](std::uint32_t high) {
    ImageBuilder::put32(file, slot + 4, high);
    files_.files["C:\\caller.dll"] = file;
    test::FakeSymboliser symboliser(files_);
    CallChecker checker(symboliser, {image("C:\\caller.dll", kBase)});
    const CallChecker::Callee above{0, {kBase + kFourth + 8, AddressKind::return_address}};
    return checker.check(0, kBase + kReturn, &above).check;
  };
  EXPECT_EQ(check(1), CallCheck::verified);
  EXPECT_EQ(check(0), CallCheck::possible);
  EXPECT_EQ(check(2), CallCheck::possible);
}

// Only the system knows what an API set means, so the function is looked for in the image of the frame above.
TEST_F(CallCheckerTest, ApiSetIsLookedForInTheImageAbove) {
  builder_.import("api-ms-win-core-synch-l1-1-0.dll", "Sleep");
  call_slot(ImageBuilder::import_slot(0));
  ImageBuilder kernel;
  kernel.function(kCode, kCode + 0x20).function(kSecond, kSecond + 0x20).export_name("Sleep", kCode);
  kernel.put_code(kCode + 0x1F, kRet);
  other("C:\\kernelbase.dll", kernel);
  EXPECT_EQ(check(kCode + 8, 1), CallCheck::verified);
  EXPECT_EQ(check(kSecond + 8, 1), CallCheck::possible);
}

TEST_F(CallCheckerTest, ExtensionApiSetLikewise) {
  builder_.import("ext-ms-win-orders-l1-1-0.dll", "Sleep");
  call_slot(ImageBuilder::import_slot(0));
  ImageBuilder kernel;
  kernel.function(kCode, kCode + 0x20).export_name("Sleep", kCode).put_code(kCode + 0x1F, kRet);
  other("C:\\kernelbase.dll", kernel);
  EXPECT_EQ(check(kCode + 8, 1), CallCheck::verified);
}

TEST_F(CallCheckerTest, OrdinalIsLookedUp) {
  builder_.import_ordinal("late.dll", ImageBuilder::kOrdinalBase);
  call_slot(ImageBuilder::import_slot(0));
  ImageBuilder late;
  late.function(kCode, kCode + 0x20).export_ordinal(kCode).put_code(kCode + 0x1F, kRet);
  other("C:\\late.dll", late);
  EXPECT_EQ(check(kCode + 8, 1), CallCheck::verified);
  EXPECT_EQ(answer(kCode + 8, 1).import, "");
}

TEST_F(CallCheckerTest, UnknownCalleeIsPossibleAfterACall) {
  call_to(kSecond);
  EXPECT_EQ(checker().check(0, kBase + kReturn, nullptr).check, CallCheck::possible);
  EXPECT_EQ(checker().check(0, kBase + kReturn + 4, nullptr).check, CallCheck::no_call);
}

TEST_F(CallCheckerTest, FileThatIsNotTheLoadedImageIsNotChecked) {
  call_to(kSecond);
  files_.files["C:\\caller.dll"] = builder_.build();
  LoadedImage other_version = image("C:\\caller.dll", kBase);
  ++other_version.timestamp;
  test::FakeSymboliser symboliser(files_);
  CallChecker checker(symboliser, {other_version});
  EXPECT_EQ(checker.check(0, kBase + kReturn, nullptr).check, CallCheck::unchecked);
  EXPECT_EQ(checker.call_text(0, kBase + kReturn), "");
}

TEST_F(CallCheckerTest, PlacesOutsideTheCodeAreNotChecked) {
  for (const std::uint64_t rva : {0ull, 0x10ull, 0x3010ull, 0x7FFFull, 0x8001ull, 1ull << 32}) {
    EXPECT_EQ(checker().check(0, kBase + rva, nullptr).check, CallCheck::unchecked) << rva;
    EXPECT_EQ(checker().call_text(0, kBase + rva), "");
  }
  call_to(kSecond);
  constexpr std::uint64_t kFar = (1ull << 32) + kReturn;
  EXPECT_EQ(checker().check(0, kBase + kFar, nullptr).check, CallCheck::unchecked);
  EXPECT_EQ(checker().call_text(0, kBase + kFar), "");
}

TEST_F(CallCheckerTest, TextHasTheTargetsName) {
  builder_.export_name("second", kSecond);
  call_to(kSecond + 4);
  EXPECT_EQ(checker().call_text(0, kBase + kReturn),
            "0x7ff80000100b: call 0x7ff800001024  ; caller.dll!second+0x4");
  EXPECT_EQ(checker().call_text(0, kBase + kReturn + 4), "");
}

// A deep recursion has the same call thousands of times, and each time the function would be read from its start.
TEST_F(CallCheckerTest, TextOfACallIsMadeOnce) {
  class Counting final : public SymbolSource {
   public:
    explicit Counting(int& questions) : questions_(questions) {}
    std::optional<Symbol> find(std::uint32_t rva) const override {
      ++questions_;
      return Symbol{SymbolKind::dwarf, rva, {{"second", "", 0}}, 1};
    }

   private:
    int& questions_;
  };
  int questions = 0;
  test::FakeSymboliser symboliser(files_, [&](auto&...) { return std::make_unique<Counting>(questions); });
  call_to(kSecond);
  files_.files["C:\\caller.dll"] = builder_.build();
  CallChecker checker(symboliser, {image("C:\\caller.dll", kBase)});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(checker.call_text(0, kBase + kReturn), "0x7ff80000100b: call 0x7ff800001020  ; caller.dll!second");
  }
  EXPECT_EQ(questions, 1);
}

TEST_F(CallCheckerTest, TextIsThereOnlyWhereItIsCertainWhichCallItIs) {
  call({0xB8, 0x90, 0x90, 0xFF, 0xD0});  // mov eax, 0xD0FF9090
  EXPECT_EQ(checker().call_text(0, kBase + kReturn), "");
  call({0x90, 0x90, 0x41, 0xFF, 0xD0});
  EXPECT_EQ(checker().call_text(0, kBase + kReturn), "0x7ff80000100d: call r8");
  call({0x06, 0x90, 0x41, 0xFF, 0xD0});  // 06 is not an instruction; the last two bytes would be `call rax`
  EXPECT_EQ(checker().call_text(0, kBase + kReturn), "");
}

TEST_F(CallCheckerTest, TextHasTheImportsName) {
  builder_.import("ORDERS.dll", "wait_for_reply");
  call_slot(ImageBuilder::import_slot(0));
  EXPECT_EQ(checker().call_text(0, kBase + kReturn),
            "0x7ff80000100a: call qword ptr [rip + 0x2000]  ; ORDERS.dll!wait_for_reply");
}

}  // namespace
}  // namespace mixwalk
