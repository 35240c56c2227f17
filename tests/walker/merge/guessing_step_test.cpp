#include "walker/merge/guessing_step.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "tests/builders/code_builder.h"
#include "tests/builders/fake_unwind.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kImage = 0x1'4000'0000, kEngine = 0x2'0000'0000, kStack = 0x10'0000;
constexpr std::size_t kStackBytes = 0x20000;
// Return addresses in functions with unwind data, and in those of the engine.
constexpr std::uint64_t kCaller = kImage + 0x120, kStart = kImage + 0x220, kLost = kImage + 0x320;
constexpr std::uint64_t kInner = kEngine + 0x140, kMiddle = kEngine + 0x240, kOuter = kEngine + 0x340;
constexpr std::uint64_t kNoCall = kEngine + 0x440;
constexpr std::uint64_t kMethod = 7;  // the FunctionID of the code around kCaller

class Memory final : public MemoryReader {
 public:
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    return image.read(address, into, bytes) || engine.read(address, into, bytes);
  }
  BuiltMemory image{kImage, 0x1000}, engine{kEngine, 0x1000};
};

class Outside final : public OutsideMemory {
 public:
  MemoryKind kind(std::uint64_t address) noexcept override {
    return address - kEngine < 0x1000 ? MemoryKind::code : MemoryKind::nothing;
  }
};

// Knows the frames of the image's functions, by their return addresses; a frame of 0 bytes is that of the thread's
// first function. All other code has no unwind data.
class ImageStep final : public UnwindStep {
 public:
  explicit ImageStep(const MemoryReader& stack) : stack_(stack) {}

  StepResult step(Cursor& frame, LeafRule leaf) noexcept override {
    ++steps;
    const auto known = frame_bytes.find(frame.registers.rip);
    if (known == frame_bytes.end()) {
      if (leaf == LeafRule::allowed && leaf_caller != 0) {
        frame.registers.rip = leaf_caller;
        frame.registers[Register::rsp] += 8;
        frame.kind = AddressKind::return_address;
        return {.trust = Trust::leaf, .proven = false, .no_unwind_data = true};
      }
      return {.fault = StepFault::no_unwind, .no_unwind_data = true};
    }
    if (known->second == 0 && frame.guessed) return {.fault = StepFault::ended_early};
    if (frame.registers.rip == kLost) return {.fault = StepFault::no_call};
    std::uint64_t& rsp = frame.registers[Register::rsp];
    const auto caller = stack_.read_value<std::uint64_t>(rsp + known->second);
    if (!caller) return {.fault = StepFault::unreadable_stack};
    rsp += known->second + 8;
    frame.registers.rip = known->second == 0 ? 0 : *caller;
    frame.guessed = false;
    frame.kind = AddressKind::return_address;
    return {};
  }

  std::map<std::uint64_t, std::uint64_t> frame_bytes = {{kCaller, 0x20}, {kStart, 0}, {kLost, 0x20}};
  std::uint64_t leaf_caller = 0;  // the word at Rsp, if it looks like a return address
  std::size_t steps = 0;

 private:
  const MemoryReader& stack_;
};

class GuessingStepTest : public testing::Test {
 protected:
  GuessingStepTest() {
    for (const std::uint64_t at : {kCaller, kStart, kLost}) {
      memory_.image.put(static_cast<std::uint32_t>(at - kImage) - 2, {0xFF, 0xD0});  // call rax
    }
    for (const std::uint64_t at : {kInner, kMiddle, kOuter}) {
      memory_.engine.put(static_cast<std::uint32_t>(at - kEngine) - 2, {0xFF, 0xD0});
    }
    frame_.registers.rip = kInner;
    frame_.registers[Register::rsp] = kStack;
    frame_.registers[Register::rbx] = 0x1234;
    frame_.kind = AddressKind::return_address;
  }

  void put(std::uint32_t at, std::uint64_t word) { live_.put64(at, word); }
  // Puts a frame of the image's function at `at`; its caller is the thread's first function.
  void put_way_home(std::uint32_t at) {
    put(at, kCaller);
    put(at + 8 + 0x20, kStart);
  }
  // Puts the target of a frame pointer: the saved frame pointer, and the return address behind it.
  void put_frame(std::uint32_t at, std::uint64_t saved, std::uint64_t caller) {
    put(at, saved);
    put(at + 8, caller);
  }
  void set_rbp(std::uint64_t rbp) { frame_.registers[Register::rbp] = rbp; }

  // The frames that a walk passes, and how each was found.
  struct Found {
    std::uint64_t rip, rsp;
    Trust trust;
    bool operator==(const Found&) const = default;
  };
  std::vector<Found> walk(const WalkGoal& goal = {}) {
    copy_.fill(live_, kStack, kStack + kStackBytes);
    if (rewritten_) copy_.rewrite_pointers();
    LeafStep leaf(modules_, memory_, copy_, outside_);
    GuessingStep step(image_step_, {modules_, memory_, copy_, leaf, *scratch_}, managed_);
    step.set_goal(goal);
    std::vector<Found> found;
    Cursor frame = frame_;
    while (!is_root(frame) && frame.registers.rsp() < goal.bound.rsp) {
      const StepResult stepped = step.step(frame, leaf_rule(frame.kind));
      fault_ = stepped.fault;
      if (stepped.fault != StepFault::none) break;
      if (!is_root(frame)) found.push_back({frame.registers.rip, frame.registers.rsp(), stepped.trust});
      last_ = frame;
    }
    return found;
  }

  static std::vector<Found> home(std::uint64_t at, Trust trust) {
    return {{kCaller, at + 8, trust}, {kStart, at + 16 + 0x20, Trust::unwind_info}};
  }

  Memory memory_;
  Outside outside_;
  BuiltMemory live_{kStack, kStackBytes};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kStackBytes + 32);
  StackCopy copy_{buffer_};
  ImageStep image_step_{copy_};
  test::ManagedCodeTable managed_{{{kImage + 0x100, kImage + 0x180, {kMethod}}}};
  std::array<ModuleSpan, 1> spans_{ModuleSpan{.base = kImage, .size = 0x1000}};
  ModuleView modules_{spans_};
  std::unique_ptr<GuessScratch> scratch_ = std::make_unique<GuessScratch>();
  Cursor frame_, last_;
  StepFault fault_ = StepFault::none;
  bool rewritten_ = false;
};

TEST_F(GuessingStepTest, FramePointersLeadThroughFramesWithoutUnwindData) {
  set_rbp(kStack + 0x40);
  put(0x10, kOuter);  // left over from an earlier call
  put_frame(0x40, kStack + 0x90, kMiddle);
  put_frame(0x90, 0, kCaller);
  put(0xA0 + 0x20, kStart);
  const std::vector<Found> expected = {{kMiddle, kStack + 0x50, Trust::frame_pointer},
                                       {kCaller, kStack + 0xA0, Trust::frame_pointer},
                                       {kStart, kStack + 0xC8, Trust::unwind_info}};
  EXPECT_EQ(walk(), expected);
  rewritten_ = true;
  EXPECT_EQ(walk(), expected) << "the copy's pointers lead into the copy";
}

TEST_F(GuessingStepTest, OfACallerOnlyRspAndRbpAreKnown) {
  set_rbp(kStack + 0x40);
  put_frame(0x40, 0x77, kCaller);
  put(0x50 + 0x20, kStart);
  walk();
  EXPECT_EQ(last_.registers[Register::rbp], 0x77u);
  EXPECT_EQ(last_.registers[Register::rbx], 0u);
}

TEST_F(GuessingStepTest, AFramePointerThatLeadsToNoCallIsNone) {
  set_rbp(kStack + 0x40);
  put_frame(0x40, 0, kNoCall);
  put_way_home(0x60);
  EXPECT_EQ(walk(), home(kStack + 0x60, Trust::scan));
}

TEST_F(GuessingStepTest, AFramePointerBelowRspIsNone) {
  frame_.registers[Register::rsp] = kStack + 0x40;
  set_rbp(kStack + 0x10);
  put_frame(0x10, 0, kCaller);
  put(0x20 + 0x20, kStart);
  put_way_home(0x60);
  EXPECT_EQ(walk(), home(kStack + 0x60, Trust::scan));
}

// In code without frame pointers, Rbp may have any value.
TEST_F(GuessingStepTest, AFramePointerThatIsOddOrLeadsOffTheStackIsNone) {
  put_way_home(0x60);
  put(0x4C, kMiddle);  // between two words
  for (const std::uint64_t rbp : {kStack + 0x44, kStack + 0x4F, kStack - 0x40, kStack + kStackBytes,
                                  kStack + kStackBytes - 8, ~std::uint64_t{0} - 7, ~std::uint64_t{0}, kImage}) {
    set_rbp(rbp);
    EXPECT_EQ(walk(), home(kStack + 0x60, Trust::scan)) << std::hex << rbp;
  }
}

// A chain of frame pointers leads towards the base of the stack. A value that points back is not a frame pointer, so
// the walk does not go in circles; instead the words above are searched.
TEST_F(GuessingStepTest, AFramePointerThatPointsBackOrToItselfLeadsNoFurther) {
  for (const std::uint64_t saved : {kStack + 0x10, kStack + 0x40, kStack + 0x48}) {
    SCOPED_TRACE(saved - kStack);
    live_ = BuiltMemory(kStack, kStackBytes);
    set_rbp(kStack + 0x40);
    put_frame(0x10, kStack + 0x40, kOuter);
    put_frame(0x40, saved, kMiddle);
    EXPECT_TRUE(walk().empty());
    put_way_home(0x80);
    std::vector<Found> expected = {{kMiddle, kStack + 0x50, Trust::frame_pointer}};
    for (const Found& found : home(kStack + 0x80, Trust::scan)) expected.push_back(found);
    EXPECT_EQ(walk(), expected);
  }
}

TEST_F(GuessingStepTest, AScanTakesTheFirstWordThatLeadsHome) {
  put(0x08, 0x42);            // a number
  put(0x10, kStack + 0x100);  // a pointer
  put(0x18, kNoCall);         // code, but not a return address
  put(0x20, kLost);           // a return address whose frame leads nowhere
  put(0x28, kCaller);         // leads to 0x42, which is not code
  put(0x28 + 8 + 0x20, 0x42);
  put_way_home(0x60);
  EXPECT_EQ(walk(), home(kStack + 0x60, Trust::scan));
}

TEST_F(GuessingStepTest, AScanGoesThroughFurtherFramesWithoutUnwindData) {
  put(0x20, kMiddle);
  put(0x80, kOuter);
  put_way_home(0xC0);
  std::vector<Found> expected = {{kMiddle, kStack + 0x28, Trust::scan}, {kOuter, kStack + 0x88, Trust::scan}};
  for (const Found& found : home(kStack + 0xC0, Trust::scan)) expected.push_back(found);
  EXPECT_EQ(walk(), expected);
}

// The frame may have saved its caller's Rbp, if that Rbp lies above; here it is not a frame pointer of the frame
// itself.
TEST_F(GuessingStepTest, AScanKeepsTheRbpThatLiesAbove) {
  set_rbp(kStack + 0x200);
  put_way_home(0x60);
  EXPECT_EQ(walk(), home(kStack + 0x60, Trust::scan));
  EXPECT_EQ(last_.registers[Register::rbp], kStack + 0x200);
  set_rbp(kStack + 0x60);
  walk();
  EXPECT_EQ(last_.registers[Register::rbp], 0u);
}

TEST_F(GuessingStepTest, NothingBeyondTheBoundIsTakenForACaller) {
  put_way_home(0x60);
  set_rbp(kStack + 0xA0);
  put_frame(0xA0, 0, kCaller);  // an outer call of the same method
  spans_[0].has_managed_code = true;
  const auto found = walk({{.rip = kCaller, .rsp = kStack + 0x68}, kMethod});
  EXPECT_EQ(found, (std::vector<Found>{{kCaller, kStack + 0x68, Trust::scan}}));
}

TEST_F(GuessingStepTest, AtAReturnTheWordAtRspIsTheCallerOrNothingIs) {
  frame_.kind = AddressKind::instruction_pointer;
  memory_.engine.put(0x140, {0xC3});
  set_rbp(kStack + 0x40);  // the caller's Rbp
  put_frame(0x40, 0, kCaller);
  put(0x50 + 0x20, kStart);
  EXPECT_TRUE(walk().empty());
  put(0x00, kMiddle);
  const auto found = walk();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], (Found{kMiddle, kStack + 0x08, Trust::scan}));
  EXPECT_EQ(found[1], (Found{kCaller, kStack + 0x50, Trust::frame_pointer}));
}

TEST_F(GuessingStepTest, WhereNothingLeadsHomeThereIsNoCaller) {
  set_rbp(kStack + 0x40);
  put_frame(0x40, 0, kLost);
  put(0x20, kMiddle);
  EXPECT_TRUE(walk().empty());
  EXPECT_EQ(fault_, StepFault::no_unwind);
}

TEST_F(GuessingStepTest, AManagedFrameIsMetOrElseThereIsNoCaller) {
  spans_[0].has_managed_code = true;
  put_way_home(0x60);
  const std::uint64_t rsp = kStack + 0x68;
  EXPECT_EQ(walk({{.rip = kCaller, .rsp = rsp}, 0}).size(), 1u) << "by its Rip";
  EXPECT_EQ(walk({{.rip = 1, .rsp = rsp}, kMethod}).size(), 1u) << "by its function";
  EXPECT_EQ(walk({{.rip = 1, .rsp = rsp + 8}, kMethod}).size(), 2u) << "it has moved its Rsp";
  EXPECT_TRUE(walk({{.rip = 1, .rsp = rsp}, kMethod + 1}).empty());
  EXPECT_TRUE(walk({{.rip = 1, .rsp = rsp}, 0}).empty());
}

// Words that an earlier call of the same method has left behind also lead to the root.
TEST_F(GuessingStepTest, TheFirstManagedFrameMustHaveCalledOut) {
  spans_[0].has_managed_code = true;
  put_way_home(0x20);
  put_way_home(0x60);
  EXPECT_TRUE(walk().empty());
  // The saved Rsp of the method's call, and its return address.
  put_frame(0x78, kStack + 0x68, kCaller);
  EXPECT_EQ(walk(), home(kStack + 0x60, Trust::scan));
  // The method has moved its Rsp since.
  put_frame(0x78, kStack + 0x70, kCaller);
  EXPECT_EQ(walk(), home(kStack + 0x60, Trust::scan));
  put_frame(0x78, kStack + 0x60, kCaller);
  EXPECT_TRUE(walk().empty()) << "an Rsp of an earlier call";
  rewritten_ = true;
  put_frame(0x78, kStack + 0x68, kCaller);
  EXPECT_EQ(walk(), home(kStack + 0x60, Trust::scan));
}

// The runtime does not report stubs.
TEST_F(GuessingStepTest, AManagedFrameBeforeTheBoundMustHaveCalledOut) {
  spans_[0].has_managed_code = true;
  put_way_home(0x60);
  const std::uint64_t start = kStack + 0x60 + 0x30;
  EXPECT_EQ(walk({{.rip = kStart, .rsp = start}, 0}), (std::vector<Found>{{kStart, start, Trust::scan}}));
  put_frame(0x78, kStack + 0x68, kCaller);
  EXPECT_EQ(walk({{.rip = kStart, .rsp = start}, 0}).size(), 2u);
}

TEST_F(GuessingStepTest, BetweenPushAndMovTheWordsAreAtRsp) {
  frame_.kind = AddressKind::instruction_pointer;
  frame_.registers.rip = kInner + 1;
  memory_.engine.put(0x140, {0x55, 0x48, 0x89, 0xE5});
  set_rbp(kStack + 0x40);  // the caller's Rbp
  put_frame(0x00, kStack + 0x40, kMiddle);
  put_frame(0x40, 0, kCaller);
  put(0x50 + 0x20, kStart);
  const auto found = walk();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], (Found{kMiddle, kStack + 0x10, Trust::frame_pointer}));
  EXPECT_EQ(found[1].rip, kCaller);
}

// The word at Rsp in the middle of a function looks like a return address of other code without unwind data.
TEST_F(GuessingStepTest, AFramePointerComesBeforeAWordThatMayBeLeftOver) {
  frame_.kind = AddressKind::instruction_pointer;
  image_step_.leaf_caller = kOuter;
  memory_.engine.put(0x140, {0x90});
  put(0x00, kOuter);
  set_rbp(kStack + 0x40);
  put_frame(0x40, 0, kCaller);
  put(0x50 + 0x20, kStart);
  EXPECT_EQ(walk()[0], (Found{kCaller, kStack + 0x50, Trust::frame_pointer}));
  // At the function's first instruction, the word at Rsp is what the call has pushed.
  memory_.engine.put(0x140, {0x55});
  const auto found = walk();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0], (Found{kOuter, kStack + 0x08, Trust::leaf}));
}

TEST_F(GuessingStepTest, AHostileStackIsGivenUp) {
  // Every word can be a return address, and leads to the next word.
  image_step_.frame_bytes[kMiddle] = 0x08;
  for (std::uint32_t at = 0; at < kStackBytes; at += 8) put(at, kMiddle);
  EXPECT_TRUE(walk().empty());
  EXPECT_LE(image_step_.steps, 5000u);
  // None of the frames has unwind data.
  image_step_.frame_bytes.erase(kMiddle);
  image_step_.steps = 0;
  EXPECT_TRUE(walk().empty());
  EXPECT_LE(image_step_.steps, 5000u);
  // The chain of frame pointers has no end.
  for (std::uint32_t at = 0; at + 16 <= kStackBytes; at += 16) put_frame(at, kStack + at + 16, kMiddle);
  set_rbp(kStack);
  EXPECT_TRUE(walk().empty());
}

}  // namespace
}  // namespace mixwalk
