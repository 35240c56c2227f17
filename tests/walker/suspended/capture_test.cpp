#include "walker/suspended/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tests/builders/code_builder.h"
#include "tests/builders/own_memory.h"

namespace mixwalk {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A thread whose stack is an array of this process. It records the calls that are made.
class FakeThread final : public ThreadControl {
 public:
  Suspend suspend() noexcept override {
    ++suspends;
    frozen = suspended == Suspend::done;
    return suspended;
  }
  void resume() noexcept override {
    ++resumes;
    frozen = false;
    // A thread that runs writes on its stack, so whoever reads the stack from now on sees other values.
    stack.fill(0xDEAD);
  }
  bool read_registers(Registers& into) noexcept override {
    EXPECT_TRUE(frozen);
    if (!readable) return false;
    into = registers;
    return true;
  }
  bool in_dispatch() const noexcept override { return dispatching; }
  bool suspended_by_others() const noexcept override { return held; }
  StackLimits stack_limits() const noexcept override { return {address(0), address(stack.size())}; }
  bool overdue() const noexcept override { return late; }
  std::uint64_t last_frozen_ns() const noexcept override { return 5000; }
  std::uint64_t now_ns() const noexcept override { return clock += 1000; }

  std::uint64_t address(std::size_t slot) const noexcept {
    return reinterpret_cast<std::uint64_t>(stack.data() + slot);
  }
  void stand(std::uint64_t rip, std::size_t slot) {
    registers.rip = rip;
    registers[Register::rsp] = address(slot);
  }

  alignas(16) std::array<std::uint64_t, 32> stack{};
  Registers registers;
  Suspend suspended = Suspend::done;
  bool readable = true;
  bool frozen = false;
  bool held = false;  // held by others
  bool dispatching = false;  // the system is just sending it an exception
  bool late = false;
  int suspends = 0;
  int resumes = 0;
  mutable std::uint64_t clock = 0;
};

// A fake of the CLR: it recognises its code by a range, and records the questions.
class FakeClr final : public ManagedWalk {
 public:
  explicit FakeClr(const FakeThread& thread) : thread_(thread) {}

  bool is_managed(std::uint64_t ip) noexcept override {
    EXPECT_TRUE(thread_.frozen);
    asked.push_back(ip);
    return ip >= begin && ip < end;
  }
  void walk(std::uint64_t thread, const Registers* with, RawSample& sample) noexcept override {
    EXPECT_TRUE(thread_.frozen);
    ++walks;
    clr_thread = thread;
    seed = with != nullptr ? std::optional(*with) : std::nullopt;
    sample.managed_walked = true;
  }

  std::uint64_t begin = 0x900000, end = 0x900100;
  std::vector<std::uint64_t> asked;
  int walks = 0;
  std::uint64_t clr_thread = 0;
  std::optional<Registers> seed;

 private:
  const FakeThread& thread_;
};

class FakeProbe final : public Probe {
 public:
  FakeProbe(const FakeThread& thread, bool answer) : thread_(thread), answer_(answer) {}
  bool passes() noexcept override {
    EXPECT_TRUE(thread_.frozen);
    ++asked;
    return answer_;
  }
  int asked = 0;

 private:
  const FakeThread& thread_;
  bool answer_;
};

constexpr std::uint64_t kClrThread = 0x77;
constexpr std::uint32_t kPdata = 0x800, kXdata = 0x900;

// An image with three functions, and a thread in the image:
//   +0x100 … +0x140  sub rsp, 0x28
//   +0x200 … +0x240  push rbx; sub rsp, 0x10
//   +0x300           no unwind data: a leaf function
class CaptureTest : public ::testing::Test {
 protected:
  CaptureTest() : image_(0x10000, 0x1000) {
    image_.put_entry(kPdata, 0x100, 0x140, kXdata);
    image_.put_entry(kPdata + 12, 0x200, 0x240, kXdata + 0x10);
    // Version 1, prologue 4, 1 code; at 4, UWOP_ALLOC_SMALL of (4 + 1) * 8 bytes.
    image_.put(kXdata, {0x01, 4, 1, 0, 4, 0x42, 0, 0});
    // Version 1, prologue 5, 2 codes; at 5, UWOP_ALLOC_SMALL of 0x10; at 1, UWOP_PUSH_NONVOL rbx.
    image_.put(kXdata + 0x10, {0x01, 5, 2, 0, 5, 0x12, 1, 0x30});
    // The code is nops, so that no place looks like an epilogue.
    for (std::uint32_t at = 0x100; at < 0x400; ++at) image_.put(at, {0x90});
    modules_[0] = {.base = 0x10000, .size = 0x1000, .pdata_rva = kPdata, .pdata_count = 2};
    modules_[1] = {.base = 0x30000, .size = 0x1000, .has_managed_code = true};
  }

  void capture_with(ManagedWalk* clr, std::uint64_t clr_thread = kClrThread) {
    const ModuleView view(modules_);
    capture(thread_, clr_thread, {view, image_, stack_, clr, policy_, probe_, last_view_, ask_at_risk_},
            sample_);
  }

  // Puts the thread into the leaf function, below callers at +0x100 and +0x200, which `caller` has called. The frame of
  // `caller` begins at slot 12.
  void stand_under(std::uint64_t caller) {
    thread_.stand(0x10300, 2);
    image_.put(0x11B, {0xE8, 0xE0, 0x01, 0, 0});  // call +0x300
    image_.put(0x31B, {0xE8, 0xE0, 0xFF, 0xFF, 0xFF});
    thread_.stack[2] = 0x10120;  // return address of the leaf function
    thread_.stack[8] = 0x10220;  // above 0x28 bytes
    thread_.stack[11] = 0xB0B;   // rbx, above 0x10 bytes
    thread_.stack[12] = caller;
  }

  BuiltMemory image_;
  test::OwnMemory stack_;
  UnmovedStack last_;
  const UnmovedStack* last_view_ = nullptr;
  ProbePolicy policy_ = ProbePolicy::never;
  bool ask_at_risk_ = true;
  Probe* probe_ = nullptr;
  std::array<ModuleSpan, 2> modules_;
  FakeThread thread_;
  FakeClr clr_{thread_};
  std::array<std::byte, 512> stack_buffer_{};
  std::array<ManagedEntry, 4> entry_buffer_;
  RawSample sample_{stack_buffer_, entry_buffer_};
};

TEST_F(CaptureTest, SeedIsFoundUnderNativeLeafFrames) {
  stand_under(0x900040);
  capture_with(&clr_);
  ASSERT_EQ(clr_.walks, 1);
  ASSERT_TRUE(clr_.seed);
  EXPECT_EQ(clr_.seed->rip, 0x900040u);
  EXPECT_EQ(clr_.seed->rsp(), thread_.address(13));
  EXPECT_EQ((*clr_.seed)[Register::rbx], 0xB0Bu);  // the register that a callee saved is the frame's own
  EXPECT_EQ(clr_.clr_thread, kClrThread);
  EXPECT_EQ(sample_.fault, CaptureFault::none);
  EXPECT_TRUE(sample_.managed_walked);
  EXPECT_EQ(thread_.suspends, 1);
  EXPECT_EQ(thread_.resumes, 1);
}

TEST_F(CaptureTest, StackIsCopiedFromRspToItsBase) {
  stand_under(0x900040);
  thread_.stack[31] = 0xBA5E;
  capture_with(&clr_);
  EXPECT_EQ(sample_.context, thread_.registers);
  EXPECT_EQ(sample_.stack.begin(), thread_.address(2));
  EXPECT_EQ(sample_.stack.end(), thread_.address(32));
  EXPECT_FALSE(sample_.stack.cut());
  // The resume of FakeThread has overwritten the original stack.
  EXPECT_EQ(sample_.stack.read_value<std::uint64_t>(thread_.address(2)), 0x10120u);
  EXPECT_EQ(sample_.stack.read_value<std::uint64_t>(thread_.address(31)), 0xBA5Eu);
}

TEST_F(CaptureTest, ThreadStandingInManagedCodeIsItsOwnSeed) {
  thread_.stand(0x900040, 2);
  capture_with(&clr_);
  EXPECT_EQ(clr_.seed, thread_.registers);
  EXPECT_THAT(clr_.asked, ElementsAre(0x900040u));
}

TEST_F(CaptureTest, CallAtTheEndOfManagedCodeIsStillManaged) {
  stand_under(0x900100);  // the return address is the first byte after the method
  capture_with(&clr_);
  ASSERT_TRUE(clr_.seed);
  EXPECT_EQ(clr_.seed->rip, 0x900100u);
}

TEST_F(CaptureTest, NativeImagesAreNotAskedAbout) {
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_THAT(clr_.asked, ElementsAre(0x90003Fu));
}

TEST_F(CaptureTest, ReadyToRunImageIsAskedAbout) {
  clr_.begin = 0x30100;
  clr_.end = 0x30200;
  stand_under(0x30150);
  capture_with(&clr_);
  ASSERT_TRUE(clr_.seed);
  EXPECT_EQ(clr_.seed->rip, 0x30150u);
}

// Without a seed the CLR gets none, in particular not the last frame that was reached.
TEST_F(CaptureTest, CodeThatNobodyKnowsGivesNoSeed) {
  stand_under(0x950000);
  capture_with(&clr_);
  EXPECT_EQ(clr_.walks, 1);
  EXPECT_FALSE(clr_.seed);
  EXPECT_EQ(thread_.resumes, 1);
}

TEST_F(CaptureTest, FrameWithoutUnwindDataBelowTheTopGivesNoSeed) {
  stand_under(0x900040);
  thread_.stack[2] = 0x10320;  // the caller is a leaf function, which cannot have called
  thread_.stack[3] = 0x900040;
  capture_with(&clr_);
  EXPECT_EQ(clr_.walks, 1);
  EXPECT_FALSE(clr_.seed);
}

// It is not known where a call through a register led, so the caller may be wrong.
TEST_F(CaptureTest, CallThroughARegisterGivesNoSeed) {
  stand_under(0x900040);
  image_.put(0x11B, {0x90, 0x90, 0x90, 0xFF, 0xD0});
  capture_with(&clr_);
  EXPECT_EQ(clr_.walks, 1);
  EXPECT_FALSE(clr_.seed);
}

TEST_F(CaptureTest, ReturnAddressLeftOverFromAnotherCallGivesNoSeed) {
  stand_under(0x900040);
  image_.put(0x11B, {0xE8, 0xE0, 0, 0, 0});  // call +0x200
  capture_with(&clr_);
  EXPECT_EQ(clr_.walks, 1);
  EXPECT_FALSE(clr_.seed);
  EXPECT_THAT(clr_.asked, IsEmpty());
}

TEST_F(CaptureTest, UnreadableUnwindDataGivesNoSeed) {
  modules_[0].pdata_rva = 0xFF00;
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_EQ(clr_.walks, 1);
  EXPECT_FALSE(clr_.seed);
}

TEST_F(CaptureTest, LeafRunThatEndsAtTheRootGivesNoSeed) {
  stand_under(0);
  clr_.begin = 0;  // no code is at address 0, whatever the CLR says
  capture_with(&clr_);
  EXPECT_EQ(clr_.walks, 1);
  EXPECT_FALSE(clr_.seed);
  EXPECT_THAT(clr_.asked, IsEmpty());
}

TEST_F(CaptureTest, SeedBeyondTheCopyIsNoSeed) {
  // At most eight slots fit, and the seed is in the eleventh.
  sample_.stack = StackCopy(std::span(stack_buffer_).first(64));
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_TRUE(sample_.stack.cut());
  EXPECT_EQ(clr_.walks, 1);
  EXPECT_FALSE(clr_.seed);
}

TEST_F(CaptureTest, SuspendFailure) {
  stand_under(0x900040);
  thread_.suspended = Suspend::ending;
  capture_with(&clr_);
  EXPECT_EQ(sample_.fault, CaptureFault::not_suspended);
  thread_.suspended = Suspend::not_now;
  capture_with(&clr_);
  EXPECT_EQ(sample_.fault, CaptureFault::not_now) << "it is not ending";
  EXPECT_EQ(thread_.resumes, 0);  // the thread was not suspended, so it is not resumed
  EXPECT_EQ(clr_.walks, 0);
}

TEST_F(CaptureTest, RegistersThatCannotBeRead) {
  stand_under(0x900040);
  thread_.readable = false;
  capture_with(&clr_);
  EXPECT_EQ(sample_.fault, CaptureFault::not_suspended);
  EXPECT_EQ(thread_.resumes, 1);
  EXPECT_EQ(clr_.walks, 0);
}

TEST_F(CaptureTest, RspOffTheStack) {
  for (const std::uint64_t rsp :
       {thread_.address(0) - 8, thread_.address(32), std::uint64_t{0}, ~std::uint64_t{0}}) {
    stand_under(0x900040);
    thread_.resumes = 0;
    thread_.registers[Register::rsp] = rsp;
    capture_with(&clr_);
    EXPECT_EQ(sample_.fault, CaptureFault::off_stack) << rsp;
    EXPECT_EQ(sample_.stack.begin(), sample_.stack.end());
    EXPECT_EQ(thread_.resumes, 1);
    EXPECT_EQ(clr_.walks, 0);
  }
}

TEST_F(CaptureTest, CopyEngineMakesNoClrCall) {
  stand_under(0x900040);
  capture_with(nullptr);
  EXPECT_EQ(sample_.fault, CaptureFault::none);
  EXPECT_FALSE(sample_.managed_walked);
  EXPECT_EQ(sample_.stack.begin(), thread_.address(2));
  EXPECT_EQ(thread_.resumes, 1);
}

TEST_F(CaptureTest, NativeOnlyThreadMakesNoClrCall) {
  stand_under(0x900040);
  capture_with(&clr_, 0);
  EXPECT_EQ(clr_.walks, 0);
  EXPECT_THAT(clr_.asked, IsEmpty());
  EXPECT_EQ(sample_.stack.begin(), thread_.address(2));
  EXPECT_EQ(thread_.resumes, 1);
}

TEST_F(CaptureTest, NothingOfTheSampleBeforeIsLeft) {
  stand_under(0x900040);
  sample_.entry_count = 3;
  sample_.entries_cut = true;
  sample_.refusal = 1;
  sample_.frozen_ns = 5;
  sample_.managed_walked = true;
  sample_.stack.fill(test::OwnMemory(), thread_.address(0), thread_.address(4));
  thread_.suspended = Suspend::ending;
  capture_with(&clr_);
  EXPECT_THAT(sample_.entries(), IsEmpty());
  EXPECT_FALSE(sample_.entries_cut);
  EXPECT_FALSE(sample_.managed_walked);
  EXPECT_EQ(sample_.refusal, 0u);
  EXPECT_EQ(sample_.frozen_ns, 0u);
  EXPECT_EQ(sample_.stack.begin(), sample_.stack.end());
}

TEST_F(CaptureTest, NeverProbesWhereThePolicySaysSo) {
  FakeProbe probe(thread_, false);
  probe_ = &probe;
  modules_[0].lock_risk = LockRisk::any;
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_EQ(probe.asked, 0);
  EXPECT_EQ(sample_.probe, ProbeResult::none);
  EXPECT_EQ(clr_.walks, 1);
}

TEST_F(CaptureTest, ProbesWhereTheLeafRunMayHoldALock) {
  FakeProbe probe(thread_, true);
  probe_ = &probe;
  policy_ = ProbePolicy::risk;
  modules_[0].lock_risk = LockRisk::any;
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_EQ(probe.asked, 1) << "once a freeze";
  EXPECT_EQ(sample_.probe, ProbeResult::passed);
  EXPECT_EQ(clr_.walks, 1);
}

TEST_F(CaptureTest, WhereARiskIsNotProbedTheClrIsNotAskedAnything) {
  FakeProbe probe(thread_, true);
  probe_ = &probe;
  policy_ = ProbePolicy::risk;
  ask_at_risk_ = false;
  modules_[0].lock_risk = LockRisk::any;
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_TRUE(sample_.at_risk);
  EXPECT_EQ(sample_.probe, ProbeResult::none);
  EXPECT_EQ(probe.asked, 0);
  EXPECT_THAT(clr_.asked, IsEmpty());
  EXPECT_EQ(clr_.walks, 0);
  EXPECT_EQ(sample_.refusal, 0u);
  EXPECT_GT(sample_.stack.end(), sample_.stack.begin()) << "the copy is there";
  modules_[0].lock_risk = LockRisk::none;
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_FALSE(sample_.at_risk);
  EXPECT_EQ(clr_.walks, 1) << "no risk, no reason not to ask";
}

TEST_F(CaptureTest, NoRiskNoProbe) {
  FakeProbe probe(thread_, false);
  probe_ = &probe;
  policy_ = ProbePolicy::risk;
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_EQ(probe.asked, 0);
  EXPECT_EQ(clr_.walks, 1);
}

TEST_F(CaptureTest, FailedProbeKeepsTheClrFromBeingAskedAnything) {
  FakeProbe probe(thread_, false);
  probe_ = &probe;
  policy_ = ProbePolicy::always;
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_EQ(probe.asked, 1);
  EXPECT_EQ(sample_.probe, ProbeResult::failed);
  EXPECT_EQ(clr_.walks, 0);
  EXPECT_THAT(clr_.asked, IsEmpty());
  EXPECT_EQ(sample_.fault, CaptureFault::none) << "the copy is there";
  EXPECT_GT(sample_.stack.end(), sample_.stack.begin());
}

TEST_F(CaptureTest, ProbeThatIsWantedAndNotThereHasFailed) {
  policy_ = ProbePolicy::always;
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_EQ(sample_.probe, ProbeResult::failed);
  EXPECT_EQ(clr_.walks, 0);
}

TEST_F(CaptureTest, WalkWithoutASeedIsProbedToo) {
  FakeProbe probe(thread_, false);
  probe_ = &probe;
  policy_ = ProbePolicy::risk;
  modules_[0].lock_risk = LockRisk::any;
  stand_under(0);  // the root comes before any managed frame, so the CLR is not asked
  capture_with(&clr_);
  EXPECT_EQ(probe.asked, 1);
  EXPECT_EQ(clr_.walks, 0);
}

TEST_F(CaptureTest, NtdllIsNoRiskRightBehindASystemCall) {
  policy_ = ProbePolicy::risk;
  FakeProbe probe(thread_, true);
  probe_ = &probe;
  modules_[0].lock_risk = LockRisk::below_system_call;
  image_.put(0x2FE, {0x0F, 0x05});  // syscall, directly before +0x300
  thread_.stand(0x10300, 2);
  thread_.stack[2] = 0x900040;
  capture_with(&clr_);
  EXPECT_EQ(probe.asked, 0);
  EXPECT_EQ(clr_.walks, 1);
  // In the middle of ntdll's code, or if another function of ntdll has made the call, the thread may hold any lock.
  image_.put(0x2FE, {0x90, 0x90});
  capture_with(&clr_);
  EXPECT_EQ(probe.asked, 1);
  image_.put(0x2FE, {0x0F, 0x05});
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_EQ(probe.asked, 2);
}

TEST_F(CaptureTest, ClosedNtdllIsARiskSinceItsCodeIsNotReadToSay) {
  policy_ = ProbePolicy::risk;
  FakeProbe probe(thread_, true);
  probe_ = &probe;
  modules_[0].lock_risk = LockRisk::below_system_call;
  modules_[0].closed = true;
  image_.put(0x2FE, {0x0F, 0x05});
  thread_.stand(0x10300, 2);
  thread_.stack[2] = 0x900040;
  capture_with(&clr_);
  EXPECT_EQ(probe.asked, 1);
}

TEST_F(CaptureTest, ThreadThatRanAgainBeforeItsStackWasCopiedIsNotWalked) {
  thread_.late = true;
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_EQ(sample_.fault, CaptureFault::overdue);
  EXPECT_EQ(sample_.frozen_ns, 3000u) << "until it was let go";
  EXPECT_EQ(clr_.walks, 0);
  EXPECT_EQ(thread_.resumes, 1);
}

// A wrong seed would make the CLR read wild memory.
TEST_F(CaptureTest, ThreadThatIsBeingSentAnExceptionIsOnlyCopiedAndMarked) {
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_FALSE(sample_.in_dispatch);
  EXPECT_EQ(clr_.walks, 1);
  thread_.dispatching = true;
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_TRUE(sample_.in_dispatch);
  EXPECT_EQ(sample_.fault, CaptureFault::none);
  EXPECT_FALSE(sample_.stack.bytes().empty());
  EXPECT_EQ(clr_.walks, 1);
}

// The program, a debugger or the CLR has suspended the thread, and not mixwalk.
TEST_F(CaptureTest, ThreadThatOthersSuspendedIsOnlyCopied) {
  thread_.held = true;
  stand_under(0x900040);
  FakeProbe probe(thread_, true);
  policy_ = ProbePolicy::always;
  probe_ = &probe;
  capture_with(&clr_);
  EXPECT_EQ(sample_.fault, CaptureFault::none);
  EXPECT_EQ(sample_.refusal, kThreadSuspended);
  EXPECT_FALSE(sample_.stack.bytes().empty());
  EXPECT_EQ(probe.asked, 0);
  EXPECT_THAT(clr_.asked, IsEmpty());
  EXPECT_EQ(clr_.walks, 0);
  EXPECT_EQ(thread_.resumes, 1);
  // If no walk was requested, there is nothing to report.
  capture_with(nullptr);
  EXPECT_EQ(sample_.refusal, 0u);
}

// The resume overwrites the thread's stack here, so the test puts the same content there again.
TEST_F(CaptureTest, ThreadThatStandsWhereItStoodIsNotWalkedAgain) {
  std::uint64_t at_the_root = 0;
  const auto stand = [&] {
    thread_.stack.fill(0);
    thread_.stack.back() = at_the_root;
    stand_under(0x900010);
    UnmovedStack last = last_;
    last_view_ = &last;
    FakeClr clr(thread_);
    capture_with(&clr);
    last_view_ = nullptr;
    last_.keep(sample_);
    return clr.walks;
  };
  EXPECT_EQ(stand(), 1) << "there was none before";
  EXPECT_FALSE(sample_.unmoved);
  EXPECT_EQ(stand(), 0);
  EXPECT_TRUE(sample_.unmoved);
  EXPECT_EQ(sample_.entry_count, 0u);

  thread_.registers[Register::rbx] = 1;
  EXPECT_EQ(stand(), 1) << "another register";
  EXPECT_EQ(stand(), 0);
  at_the_root = 0xF00;
  EXPECT_EQ(stand(), 1) << "a byte at the root of its stack";
  EXPECT_EQ(stand(), 0);
  last_.forget();
  EXPECT_EQ(stand(), 1);
  EXPECT_FALSE(sample_.unmoved);
}

TEST_F(CaptureTest, StackWithoutItsRootIsNeverTheSame) {
  stand_under(0x900010);
  std::array<std::byte, 64> little;
  RawSample sample(little, {});
  const ModuleView view(modules_);
  capture(thread_, kClrThread, {view, image_, stack_}, sample);
  ASSERT_TRUE(sample.stack.cut());
  UnmovedStack last;
  last.keep(sample);
  EXPECT_FALSE(last.is_at(sample.context, sample.stack));
}

// A debugger may hold a thread in that state. Its first looks do not count, so the last one must have a stack.
TEST_F(CaptureTest, ThreadThatIsBeingSentAnExceptionIsNeverTheSame) {
  stand_under(0x900040);
  thread_.dispatching = true;
  capture_with(nullptr);
  UnmovedStack last;
  last.keep(sample_);
  EXPECT_FALSE(last.is_at(sample_.context, sample_.stack));
}

// The clock of FakeThread advances at each look.
TEST_F(CaptureTest, FreezeIsTimedFromWhenTheThreadStandsToAfterTheResume) {
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_EQ(sample_.stopping_ns, 1000u) << "from before the suspension";
  EXPECT_EQ(sample_.frozen_ns, 1000u);
  EXPECT_FALSE(thread_.frozen);
}

TEST_F(CaptureTest, ThreadThatWasLetGoBeforeItStoodHasNotStood) {
  thread_.late = true;
  thread_.clock = 10'000;
  stand_under(0x900040);
  capture_with(&clr_);
  EXPECT_EQ(sample_.frozen_ns, 0u);
  EXPECT_EQ(sample_.stopping_ns, 1000u);
}

// Every function calls itself: 0x30 bytes for each frame, without an end within the limits of a seed's search.
TEST(CaptureLeafRunTest, DeepNativeRecursionGivesNoSeedButAWholeCopy) {
  class DeepThread final : public ThreadControl {
   public:
    Suspend suspend() noexcept override { return Suspend::done; }
    void resume() noexcept override { ++resumes; }
    bool read_registers(Registers& into) noexcept override {
      into.rip = 0x10120;
      into[Register::rsp] = reinterpret_cast<std::uint64_t>(stack.data());
      return true;
    }
    bool suspended_by_others() const noexcept override { return false; }
    StackLimits stack_limits() const noexcept override {
      const auto begin = reinterpret_cast<std::uint64_t>(stack.data());
      return {begin, begin + stack.size() * 8};
    }
    bool overdue() const noexcept override { return false; }
    std::uint64_t last_frozen_ns() const noexcept override { return 0; }
    std::uint64_t now_ns() const noexcept override { return 0; }
    std::vector<std::uint64_t> stack;
    int resumes = 0;
  };
  class ManagedRoot final : public ManagedWalk {
   public:
    bool is_managed(std::uint64_t ip) noexcept override { return ip == 0x90003F; }
    void walk(std::uint64_t, const Registers* seed, RawSample&) noexcept override {
      seeded.push_back(seed != nullptr);
    }
    std::vector<bool> seeded;
  };

  BuiltMemory image(0x10000, 0x1000);
  image.put_entry(kPdata, 0x100, 0x140, kXdata);
  image.put(kXdata, {0x01, 4, 1, 0, 4, 0x42, 0, 0});
  for (std::uint32_t at = 0x100; at < 0x140; ++at) image.put(at, {0x90});
  const std::array modules = {
      ModuleSpan{.base = 0x10000, .size = 0x1000, .pdata_rva = kPdata, .pdata_count = 1}};
  const ModuleView view(modules);
  ManagedRoot clr;
  std::vector<std::byte> buffer(64 << 10);
  std::array<ManagedEntry, 1> entries;
  for (const std::size_t depth : {std::size_t{500}, std::size_t{600}}) {
    DeepThread thread;
    thread.stack.assign(depth * 6, 0);
    for (std::size_t i = 0; i < depth; ++i) thread.stack[i * 6 + 5] = 0x10120;
    thread.stack.back() = 0x900040;
    RawSample sample(buffer, entries);
    capture(thread, kClrThread, {view, image, test::OwnMemory(), &clr}, sample);
    EXPECT_FALSE(sample.stack.cut());
    EXPECT_EQ(sample.stack.end() - sample.stack.begin(), depth * 48);
    EXPECT_EQ(thread.resumes, 1);
  }
  EXPECT_THAT(clr.seeded, ElementsAre(true, false));
}

}  // namespace
}  // namespace mixwalk
