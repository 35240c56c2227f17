#include "walker/clr/clr_jitted_step.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/builders/dump_samples.h"
#include "tests/builders/fake_clr_questions.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/jitted_builder.h"
#include "walker/outside/target_step.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kHeap = 0x7FFD'0000'0000;
constexpr std::uint64_t kStack = 0x10'0000;
constexpr std::uint32_t kUnwind = 0x500;

// The heap is code; everything else is no memory.
class HeapIsCode final : public OutsideMemory {
 public:
  MemoryKind kind(std::uint64_t address) noexcept override {
    return address - kHeap < 0x3000 ? MemoryKind::code : MemoryKind::nothing;
  }
};

// A code heap with one compiled method, and a stack of 4 KiB.
class ClrJittedStepTest : public testing::Test {
 protected:
  ClrJittedStepTest() {
    // The prologue is push rbx; sub rsp, 0x20.
    heap_.put(kUnwind, {0x01, 5, 2, 0, 5, 0x32, 1, 0x30});
    clr_.add_code(method_.put(heap_));
    call_at(0x1080);
  }

  // Puts a call through a register that ends at that offset.
  void call_at(std::uint32_t end) { heap_.put(end - 2, {0xFF, 0xD0}); }

  StepResult step(LeafRule leaf = LeafRule::forbidden) {
    copy_.fill(stack_, kStack, kStack + 0x1000);
    ClrJittedStep jitted(clr_, heap_);
    TargetStep step(modules_, heap_, copy_, outside_, {&jitted, true});
    return step.step(frame_, leaf);
  }
  void stand_at(std::uint32_t offset, std::uint32_t rsp, AddressKind kind) {
    frame_.registers.rip = kHeap + offset;
    frame_.registers[Register::rsp] = kStack + rsp;
    frame_.kind = kind;
  }

  BuiltMemory heap_{kHeap, 0x3000};
  BuiltMemory stack_{kStack, 0x1000};
  test::JittedBuilder method_{.entries = {{0x1008, 0x1108, kUnwind}}};
  test::FakeClrQuestions clr_;
  HeapIsCode outside_;
  ModuleView modules_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(0x1010);
  StackCopy copy_{buffer_};
  Cursor frame_;
};

TEST_F(ClrJittedStepTest, JittedCodeByItsHeader) {
  stand_at(0x1050, 0x100, AddressKind::return_address);
  stack_.put64(0x120, 0xBBBB);
  stack_.put64(0x128, kHeap + 0x1080);
  const StepResult stepped = step();
  EXPECT_EQ(stepped.fault, StepFault::none);
  EXPECT_EQ(stepped.trust, Trust::dynamic);
  EXPECT_EQ(frame_.registers.rip, kHeap + 0x1080);
  EXPECT_EQ(frame_.registers.rsp(), kStack + 0x130);
  EXPECT_EQ(frame_.registers[Register::rbx], 0xBBBBu);
}

TEST_F(ClrJittedStepTest, CallerThatIsBehindNoCall) {
  stand_at(0x1050, 0x100, AddressKind::return_address);
  stack_.put64(0x128, kHeap + 0x1090);
  EXPECT_EQ(step().fault, StepFault::no_call);
  EXPECT_EQ(frame_.registers.rip, kHeap + 0x1050);  // unchanged
}

TEST_F(ClrJittedStepTest, CallerThatIsNoCode) {
  stand_at(0x1050, 0x100, AddressKind::return_address);
  stack_.put64(0x128, 0x5555);
  EXPECT_EQ(step().fault, StepFault::no_call);
}

TEST_F(ClrJittedStepTest, ZeroIsNoRootBelowJittedCode) {
  stand_at(0x1050, 0x100, AddressKind::return_address);
  stack_.put64(0x128, 0);
  EXPECT_EQ(step().fault, StepFault::ended_early);
}

TEST_F(ClrJittedStepTest, CodeWhoseHeaderIsDamaged) {
  heap_.put64(0x1000, 0);
  stand_at(0x1050, 0x100, AddressKind::return_address);
  EXPECT_EQ(step().fault, StepFault::unreadable_unwind);
}

// The image is not where the search for its headers looks.
TEST_F(ClrJittedStepTest, ImageWhoseBeginningTheRuntimeKnows) {
  constexpr std::uint64_t kImage = kHeap + 0x3000;
  const auto image = test::loaded(test::ImageBuilder().function(0x1000, 0x1040).build());
  BuiltMemory memory(kHeap, 0x3000 + image.size());
  memory.put(0x3000, image);
  memory.put(0x107E, {0xFF, 0xD0});
  stack_.put64(0x100, kHeap + 0x1080);
  copy_.fill(stack_, kStack, kStack + 0x1000);
  ClrCode code{.method = 1, .start = kImage + 0x1000, .hot_bytes = 0x40};
  for (const std::uint64_t known : {std::uint64_t{0}, kImage}) {
    test::FakeClrQuestions clr;
    code.image_base = known;
    clr.add_code(code);
    ClrJittedStep jitted(clr, memory);
    TargetStep by(modules_, memory, copy_, outside_, {&jitted, true});
    frame_.registers.rip = kImage + 0x1010;
    frame_.registers[Register::rsp] = kStack + 0x100;
    frame_.kind = AddressKind::return_address;
    EXPECT_EQ(by.step(frame_, LeafRule::forbidden).fault,
              known == 0 ? StepFault::unreadable_unwind : StepFault::none);
  }
  EXPECT_EQ(frame_.registers.rip, kHeap + 0x1080);
}

TEST_F(ClrJittedStepTest, ThunkIsALeafBehindACall) {
  stand_at(0x2000, 0x100, AddressKind::instruction_pointer);
  stack_.put64(0x100, kHeap + 0x1080);
  EXPECT_EQ(step(LeafRule::allowed).fault, StepFault::none);
  EXPECT_EQ(frame_.registers.rip, kHeap + 0x1080);
  EXPECT_EQ(frame_.registers.rsp(), kStack + 0x108);
}

TEST_F(ClrJittedStepTest, ThunkBelowNoCall) {
  stand_at(0x2000, 0x100, AddressKind::instruction_pointer);
  stack_.put64(0x100, kHeap + 0x1090);
  const StepResult stepped = step(LeafRule::allowed);
  EXPECT_EQ(stepped.fault, StepFault::no_call);
  EXPECT_TRUE(stepped.no_unwind_data);
}

TEST_F(ClrJittedStepTest, ThunkThatCalledIsNone) {
  stand_at(0x2000, 0x100, AddressKind::return_address);
  stack_.put64(0x100, kHeap + 0x1080);
  const StepResult stepped = step();
  EXPECT_EQ(stepped.fault, StepFault::no_unwind);
  EXPECT_TRUE(stepped.no_unwind_data);
}

}  // namespace
}  // namespace mixwalk
