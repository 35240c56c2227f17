#include "walker/merge/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/builders/fake_unwind.h"
#include "tests/builders/own_memory.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

using test::ManagedCodeTable;
using test::ScriptedFrame;
using test::ScriptedUnwindStep;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The images are ntdll (module 0), coreclr (1), and System.Private.CoreLib (2). Only the CLR can distinguish the
// ReadyToRun code of the last one from the rest of the image.
constexpr std::array kModules = {
    ModuleSpan{.base = 0x10000, .size = 0x1000},
    ModuleSpan{.base = 0x20000, .size = 0x1000},
    ModuleSpan{.base = 0x30000, .size = 0x1000, .has_managed_code = true},
};

// The CLR's code. From 0x900400 on there are thunks: code of the runtime that has no FunctionID.
constexpr std::uint64_t kMain = 1, kHelper = 2, kStub = 3, kDynamicMethod = 4, kReadyToRun = 5;
ManagedCodeTable clr_code() {
  return ManagedCodeTable({{0x900000, 0x900100, {kMain}},
                           {0x900100, 0x900200, {kHelper}},
                           {0x900200, 0x900300, {kStub, true}},
                           {0x900300, 0x900400, {kDynamicMethod}},
                           {0x30100, 0x30200, {kReadyToRun}}});
}

// Main calls native code, which calls Helper, which waits in ntdll through an IL stub.
std::vector<ScriptedFrame> sandwich() {
  return {
      {0x10010, 0x7000},
      {0x20020, 0x7020},
      {0x900220, 0x7060},
      {0x900130, 0x7090, Trust::dynamic},
      {0x20050, 0x70C0, Trust::dynamic},
      {0x20066, 0x70E0},
      {0x900040, 0x7100},
      {0x20080, 0x7140, Trust::dynamic},
      {0x10090, 0x7180},
      {0, 0x71C0},
  };
}

ManagedEntry entry(std::uint64_t function, std::uint64_t ip, std::uint64_t rsp) {
  ManagedEntry result{.function = function, .ip = ip};
  result.registers.rip = ip;
  result.registers[Register::rsp] = rsp;
  return result;
}
ManagedEntry hole(std::uint64_t ip, std::uint64_t rsp) {
  return entry(0, ip, rsp);
}

// Returns what DoStackSnapshot reports for sandwich().
std::vector<ManagedEntry> sandwich_entries() {
  return {entry(kHelper, 0x900130, 0x7090), hole(0x20050, 0x70C0), entry(kMain, 0x900040, 0x7100),
          hole(0x20080, 0x7140)};
}

// The memory from which the stacks are copied. The scripted step reads none of it.
class Zeros final : public MemoryReader {
 public:
  bool read(std::uint64_t, void* into, std::size_t bytes) const noexcept override {
    std::memset(into, 0, bytes);
    return true;
  }
};

// A sample, and everything that a merge of it reads.
struct Scene {
  explicit Scene(std::vector<ScriptedFrame> frames, std::vector<ManagedEntry> reported = {})
      : step(frames), entries(std::move(reported)) {
    sample.context.rip = frames.front().rip;
    sample.context[Register::rsp] = frames.front().rsp;
    sample.entry_buffer = entries;
    sample.entry_count = entries.size();
    sample.managed_walked = !entries.empty();
    sample.stack.fill(Zeros(), frames.front().rsp, 0x10000);
  }

  Stack merged() {
    return merge(sample, {.step = step,
                          .managed = managed,
                          .modules = ModuleView(kModules),
                          .scratch = scratch,
                          .calls = calls});
  }

  ScriptedUnwindStep step;
  ManagedCodeTable managed = clr_code();
  std::vector<ManagedEntry> entries;
  std::vector<RuntimeCall> calls;
  std::vector<std::byte> stack_buffer = std::vector<std::byte>(0x10000);
  RawSample sample{stack_buffer, {}};
  std::vector<RunFrame> scratch = std::vector<RunFrame>(64);
};

std::string text(const StackFrame& frame) {
  if (frame.kind == FrameKind::gap) return "gap";
  char line[128];
  std::snprintf(line, sizeof line, "%s %llx@%llx", std::string(enum_name(frame.kind)).c_str(),
                static_cast<unsigned long long>(frame.address),
                static_cast<unsigned long long>(frame.stack_pointer));
  std::string result = line;
  if (frame.function != 0) result += " f" + std::to_string(frame.function);
  if (frame.module != Frame::kNone) result += " m" + std::to_string(frame.module);
  return result;
}

std::string text(const Run& run) {
  std::string result(enum_name(run.position));
  result += ' ';
  result += enum_name(run.end);
  if (run.why != OpenReason::none) result += " (" + std::string(enum_name(run.why)) + ")";
  return result + ", " + std::to_string(run.frame_count) + " from " +
         std::to_string(run.first_frame);
}

std::vector<std::string> frames(const Stack& stack) {
  std::vector<std::string> lines;
  for (const StackFrame& frame : stack.frames) lines.push_back(text(frame));
  return lines;
}

std::vector<std::string> runs(const Stack& stack) {
  std::vector<std::string> lines;
  for (const Run& run : stack.runs()) lines.push_back(text(run));
  return lines;
}

void expect_consistent(const Stack& stack) {
  const std::vector<Run> runs = stack.runs();
  const std::vector<std::int32_t> run_of = stack.run_of_frames(stack.runs());
  std::vector<std::int32_t> expected(stack.frames.size(), Frame::kNone);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    ASSERT_LE(std::uint64_t{run.first_frame} + run.frame_count, stack.frames.size());
    EXPECT_NE(run.frame_count, 0u);
    EXPECT_EQ(run.end == RunEnd::open, run.why != OpenReason::none) << text(run);
    EXPECT_EQ(run.end == RunEnd::open,
              stack.frames[run.first_frame + run.frame_count - 1].kind == FrameKind::gap);
    for (std::uint32_t k = 0; k < run.frame_count; ++k) {
      expected[run.first_frame + k] = static_cast<std::int32_t>(i);
    }
  }
  EXPECT_EQ(run_of, expected);
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    EXPECT_EQ(run_of[i] == Frame::kNone, stack.frames[i].kind == FrameKind::managed) << text(stack.frames[i]);
  }
}

// The engines may differ in how a frame was found, and in nothing else.
Stack without_trust(Stack stack) {
  for (Frame& frame : stack.frames) frame.trust = Trust::context;
  stack.engine = Engine::copy;
  return stack;
}

TEST(MergeTest, LeafRunEndsAtFirstManagedFrame) {
  const Stack stack = Scene(sandwich(), sandwich_entries()).merged();
  ASSERT_GE(stack.frames.size(), 4u);
  EXPECT_EQ(text(stack.frames[0]), "native 10010@7000 m0");
  EXPECT_EQ(text(stack.frames[1]), "native 20020@7020 m1");
  EXPECT_EQ(text(stack.frames[2]), "stub 900220@7060 f3");
  EXPECT_EQ(text(stack.frames[3]), "managed 900130@7090 f2");
  EXPECT_EQ(text(stack.runs()[0]), "leaf closed, 3 from 0");
  EXPECT_EQ(stack.frames[0].address_kind, AddressKind::instruction_pointer);
  EXPECT_EQ(stack.frames[0].trust, Trust::context);
  EXPECT_EQ(stack.frames[1].address_kind, AddressKind::return_address);
  EXPECT_EQ(stack.frames[1].trust, Trust::unwind_info);
  EXPECT_EQ(stack.frames[3].trust, Trust::runtime);
  EXPECT_EQ(stack.engine, Engine::snapshot);
}

TEST(MergeTest, HoleBetweenTwoManagedFramesIsFilled) {
  const Stack stack = Scene(sandwich(), sandwich_entries()).merged();
  EXPECT_THAT(
      frames(stack),
      ElementsAre("native 10010@7000 m0", "native 20020@7020 m1", "stub 900220@7060 f3",
                  "managed 900130@7090 f2", "native 20050@70c0 m1", "native 20066@70e0 m1",
                  "managed 900040@7100 f1", "native 20080@7140 m1", "native 10090@7180 m0"));
  EXPECT_THAT(runs(stack), ElementsAre("leaf closed, 3 from 0", "middle closed, 2 from 4",
                                       "root root, 2 from 7"));
  expect_consistent(stack);
  EXPECT_TRUE(stack.whole());
  EXPECT_EQ(stack.frames[4].trust, Trust::runtime);
  EXPECT_EQ(stack.frames[5].trust, Trust::unwind_info);
}

// The runtime reports the frame, but it is a guess that the frames above lead to that one.
TEST(MergeTest, AManagedFrameThatAGuessLedToIsNotWhole) {
  for (const std::size_t guessed : {3u, 6u}) {  // Helper, Main
    auto script = sandwich();
    script[guessed].trust = Trust::scan;
    const Stack stack = Scene(script, sandwich_entries()).merged();
    EXPECT_EQ(stack.completeness(), Completeness::guessed);
    EXPECT_EQ(stack.frames[guessed].trust, Trust::scan);
    EXPECT_EQ(frames(stack), frames(Scene(sandwich(), sandwich_entries()).merged()));
  }
}

TEST(MergeTest, HoleAboveTheFirstManagedFrameIsTheLeafRun) {
  // Without a seed the CLR begins at the first frame that it can see, below the thread's own top.
  auto entries = sandwich_entries();
  entries.insert(entries.begin(), hole(0x20020, 0x7020));
  EXPECT_EQ(Scene(sandwich(), entries).merged(), Scene(sandwich(), sandwich_entries()).merged());
}

// What the runtime has noted about sandwich(): Helper called through a stub, and Main called coreclr.
std::vector<RuntimeCall> sandwich_calls() {
  const auto call = [](std::uint64_t function, std::uint64_t ip, std::uint64_t rsp) {
    return RuntimeCall{{entry(function, ip, rsp).registers, AddressKind::return_address}, function};
  };
  return {call(kStub, 0x900220, 0x7060), call(kMain, 0x900040, 0x7100)};
}

TEST(MergeTest, CallsOfTheRuntimeChangeNoWholeStack) {
  Scene scene(sandwich());
  scene.calls = sandwich_calls();
  EXPECT_EQ(scene.merged(), Scene(sandwich()).merged());
}

TEST(MergeTest, AWalkThatEndsGoesOnAtTheCallerThatTheRuntimeKnows) {
  auto script = sandwich();
  script[4].fault = StepFault::bad_unwind;
  Scene scene(script);
  scene.calls = sandwich_calls();
  const Stack stack = scene.merged();
  EXPECT_THAT(frames(stack), ElementsAre("native 10010@7000 m0", "native 20020@7020 m1", "stub 900220@7060 f3",
                                         "managed 900130@7090 f2", "native 20050@70c0 m1", "gap",
                                         "managed 900040@7100 f1", "native 20080@7140 m1", "native 10090@7180 m0"));
  EXPECT_THAT(runs(stack), ElementsAre("leaf closed, 3 from 0", "middle open (bad-unwind), 2 from 4",
                                       "root root, 2 from 7"));
  EXPECT_EQ(stack.frames[6].trust, Trust::runtime);
  EXPECT_FALSE(stack.whole());
  expect_consistent(stack);
}

TEST(MergeTest, AWalkThatEndsAtACallerGoesOnAtTheNextOne) {
  auto script = sandwich();
  script[2].fault = StepFault::bad_unwind;
  Scene scene(script);
  scene.calls = sandwich_calls();
  EXPECT_THAT(frames(scene.merged()),
              ElementsAre("native 10010@7000 m0", "native 20020@7020 m1", "stub 900220@7060 f3", "gap",
                          "managed 900040@7100 f1", "native 20080@7140 m1", "native 10090@7180 m0"));
  script[6].fault = StepFault::bad_unwind;
  Scene twice(script);
  twice.calls = sandwich_calls();
  EXPECT_THAT(frames(twice.merged()), ElementsAre("native 10010@7000 m0", "native 20020@7020 m1",
                                                  "stub 900220@7060 f3", "gap", "managed 900040@7100 f1", "gap"));
}

// The frame is a guess, but the runtime says that it has made a call. It also knows the frame's registers.
TEST(MergeTest, ACallerOfTheRuntimeThatAGuessLedToIsNoGuess) {
  auto script = sandwich();
  script[6].proven = script[6].steps_if_guessed = false;
  Scene scene(script);
  EXPECT_FALSE(scene.merged().whole());
  scene.calls = sandwich_calls();
  EXPECT_EQ(frames(scene.merged()), frames(Scene(sandwich()).merged()));
}

TEST(MergeTest, ACallerOfTheRuntimeThatAGuessLedToStaysWhenTheWalkFailsBehindIt) {
  auto script = sandwich();
  script[6].proven = script[6].steps_if_guessed = false;
  script[7].fault = StepFault::bad_unwind;
  Scene scene(script);
  scene.calls = sandwich_calls();
  auto kept = frames(Scene(sandwich()).merged());
  kept.resize(8);
  kept.push_back("gap");
  EXPECT_EQ(frames(scene.merged()), kept);
}

// The method has called itself, and only the frame further down has made the call.
TEST(MergeTest, AFrameOfTheCallersMethodIsNotTheCaller) {
  auto script = sandwich();
  script[3] = {.rip = 0x900030, .rsp = 0x7090, .proven = false};
  script[4].fault = StepFault::bad_unwind;
  Scene scene(script);
  scene.calls = sandwich_calls();
  EXPECT_THAT(frames(scene.merged()),
              ElementsAre("native 10010@7000 m0", "native 20020@7020 m1", "stub 900220@7060 f3", "gap",
                          "managed 900040@7100 f1", "native 20080@7140 m1", "native 10090@7180 m0"));
}

// The Rsp of a call is the one from before a stackalloc.
TEST(MergeTest, ACallerThatHasMovedItsRsp) {
  auto script = sandwich();
  script[6].proven = script[6].steps_if_guessed = false;
  script[6].rsp = 0x70F0;
  Scene scene(script);
  scene.calls = sandwich_calls();
  EXPECT_TRUE(scene.merged().whole());
}

TEST(MergeTest, CallsThatAGuessHasPassedCountWhenTheGuessIsTakenBack) {
  auto script = sandwich();
  script[1] = {.rip = 0x20020, .rsp = 0x7110, .fault = StepFault::bad_unwind, .proven = false};
  Scene scene(script);
  scene.calls = sandwich_calls();
  auto kept = frames(Scene(sandwich()).merged());
  kept[1] = "gap";
  EXPECT_EQ(frames(scene.merged()), kept);
}

TEST(MergeTest, NeighbouringManagedFramesHaveNoRunBetweenThem) {
  const Stack stack = Scene({{0x10010, 0x7000},
                             {0x900130, 0x7090},
                             {0x900040, 0x70C0},
                             {0x10090, 0x7180},
                             {0, 0x71C0}},
                            {entry(kHelper, 0x900130, 0x7090), entry(kMain, 0x900040, 0x70C0),
                             hole(0x10090, 0x7180)})
                          .merged();
  EXPECT_THAT(frames(stack), ElementsAre("native 10010@7000 m0", "managed 900130@7090 f2",
                                         "managed 900040@70c0 f1", "native 10090@7180 m0"));
  EXPECT_THAT(runs(stack), ElementsAre("leaf closed, 1 from 0", "root root, 1 from 3"));
  expect_consistent(stack);
}

TEST(MergeTest, ThreadStandingInManagedCode) {
  std::vector<ScriptedFrame> real = {
      {0x900130, 0x7090}, {0x900040, 0x7100, Trust::leaf}, {0x10090, 0x7180}, {0, 0x71C0}};
  real[0].leaf = true;
  Scene scene(real, {entry(kHelper, 0x900130, 0x7090), entry(kMain, 0x900040, 0x7100),
                     hole(0x10090, 0x7180)});
  const Stack stack = scene.merged();
  EXPECT_THAT(frames(stack), ElementsAre("managed 900130@7090 f2", "managed 900040@7100 f1",
                                         "native 10090@7180 m0"));
  EXPECT_THAT(runs(stack), ElementsAre("root root, 1 from 2"));
  EXPECT_EQ(stack.frames[0].address_kind, AddressKind::instruction_pointer);
  EXPECT_EQ(stack.frames[0].trust, Trust::context);
  EXPECT_EQ(stack.frames[1].address_kind, AddressKind::return_address);
  expect_consistent(stack);
  EXPECT_TRUE(stack.whole());
}

TEST(MergeTest, InlinedPInvokeReportedAFewBytesEarlierTakesTheReturnAddress) {
  auto entries = sandwich_entries();
  entries[0].ip = entries[0].registers.rip = 0x900128;
  Scene scene(sandwich(), entries);
  const Stack stack = scene.merged();
  EXPECT_EQ(text(stack.frames[3]), "managed 900130@7090 f2");
  EXPECT_EQ(stack.frames[3].address_kind, AddressKind::return_address);
  EXPECT_TRUE(stack.whole());
  expect_consistent(stack);
}

TEST(MergeTest, InlinedPInvokeAfterAStackallocIsReportedWithTheRspFromBefore) {
  auto entries = sandwich_entries();
  // Main's frame is really at 0x7100, and its caller's at 0x7140.
  entries[2] = entry(kMain, 0x900038, 0x7130);
  const Stack stack = Scene(sandwich(), entries).merged();
  EXPECT_EQ(frames(stack), frames(Scene(sandwich(), sandwich_entries()).merged()));
  EXPECT_TRUE(stack.whole());
  expect_consistent(stack);
}

TEST(MergeTest, AnotherFunctionsFrameAroundTheReportedRspIsNotMet) {
  auto entries = sandwich_entries();
  entries[2] = entry(kHelper, 0x900138, 0x7130);  // in fact Main's frame lies there
  const Stack stack = Scene(sandwich(), entries).merged();
  EXPECT_EQ(text(stack.runs().at(2)), "middle open (passed-bound), 1 from 7");
  expect_consistent(stack);
}

TEST(MergeTest, CallAtItsFunctionsEndBelongsToThatFunction) {
  // Helper's last instruction is a call that never returns, so 0x900200 is the stub's first byte.
  auto real = sandwich();
  real[3].rip = 0x900200;
  auto entries = sandwich_entries();
  entries[0].ip = 0x9001F8;
  EXPECT_EQ(text(Scene(real, entries).merged().frames[3]), "managed 900200@7090 f2");
  EXPECT_EQ(text(Scene(real).merged().frames[3]), "managed 900200@7090 f2");
}

TEST(MergeTest, HoleThatPassesTheNextManagedFrameStaysOpen) {
  auto real = sandwich();
  real[5] = {0x20066, 0x7108};  // beyond Main's Rsp, 0x7100
  const Stack stack = Scene(real, sandwich_entries()).merged();
  EXPECT_THAT(frames(stack), ElementsAre("native 10010@7000 m0", "native 20020@7020 m1",
                                         "stub 900220@7060 f3", "managed 900130@7090 f2",
                                         "native 20050@70c0 m1", "gap", "managed 900040@7100 f1",
                                         "native 20080@7140 m1", "native 10090@7180 m0"));
  EXPECT_THAT(runs(stack),
              ElementsAre("leaf closed, 3 from 0", "middle open (passed-bound), 2 from 4",
                          "root root, 2 from 7"));
  EXPECT_FALSE(stack.whole());
  EXPECT_EQ(stack.frames[6].trust, Trust::runtime);
  expect_consistent(stack);
}

TEST(MergeTest, HoleThatArrivesAtTheRootStaysOpen) {
  auto real = sandwich();
  real[5] = {0, 0x70E0};
  const Stack stack = Scene(real, sandwich_entries()).merged();
  EXPECT_EQ(text(stack.runs().at(1)), "middle open (ended-at-root), 2 from 4");
  EXPECT_EQ(text(stack.frames.at(6)), "managed 900040@7100 f1");
  EXPECT_FALSE(stack.whole());
  expect_consistent(stack);
}

TEST(MergeTest, WrongFunctionOnTheRightStackPointer) {
  auto real = sandwich();
  real[6].rip = 0x900150;  // Helper is where the CLR says that Main is
  real.insert(real.begin() + 7, {0x900040, 0x7100});
  const Stack stack = Scene(real, sandwich_entries()).merged();
  EXPECT_EQ(text(stack.runs().at(1)), "middle open (wrong-function), 3 from 4");
  EXPECT_EQ(text(stack.frames.at(7)), "managed 900040@7100 f1");
  EXPECT_FALSE(stack.whole());
  expect_consistent(stack);
}

TEST(MergeTest, LeafRunThatCannotBeUnwoundStaysOpen) {
  auto real = sandwich();
  real[1].fault = StepFault::bad_unwind;
  const Stack stack = Scene(real, sandwich_entries()).merged();
  EXPECT_EQ(text(stack.runs().at(0)), "leaf open (bad-unwind), 3 from 0");
  EXPECT_EQ(text(stack.frames.at(3)), "managed 900130@7090 f2");
  EXPECT_EQ(text(stack.runs().back()), "root root, 2 from 7");
  EXPECT_FALSE(stack.whole());
  expect_consistent(stack);
}

TEST(MergeTest, RootRun) {
  const Stack stack = Scene({{0x900040, 0x7100}, {0x20080, 0x7140}, {0x10090, 0x7180}, {0, 0x71C0}},
                            {entry(kMain, 0x900040, 0x7100), hole(0x20080, 0x7140)})
                          .merged();
  EXPECT_THAT(runs(stack), ElementsAre("root root, 2 from 1"));
  EXPECT_TRUE(stack.whole());
  expect_consistent(stack);
}

TEST(MergeTest, RootRunThatTheClrDoesNotReport) {
  auto entries = sandwich_entries();
  entries.pop_back();
  const Stack stack = Scene(sandwich(), entries).merged();
  EXPECT_EQ(without_trust(stack), without_trust(Scene(sandwich(), sandwich_entries()).merged()));
  EXPECT_EQ(stack.frames[7].trust, Trust::dynamic);
}

TEST(MergeTest, RootRunThatStopsIsOpen) {
  auto real = sandwich();
  real[8].fault = StepFault::no_unwind;
  for (const auto& entries : {sandwich_entries(), std::vector<ManagedEntry>()}) {
    const Stack stack = Scene(real, entries).merged();
    EXPECT_EQ(text(stack.runs().back()), "root open (no-unwind), 3 from 7");
    EXPECT_EQ(text(stack.frames.back()), "gap");
    EXPECT_FALSE(stack.whole());
    expect_consistent(stack);
  }
}

TEST(MergeTest, LastManagedFrameThatCannotBeUnwoundLeavesAGap) {
  auto real = sandwich();
  real[6].fault = StepFault::unreadable_unwind;
  auto entries = sandwich_entries();
  entries.pop_back();
  for (const auto& reported : {entries, std::vector<ManagedEntry>()}) {
    const Stack stack = Scene(real, reported).merged();
    EXPECT_EQ(text(stack.runs().back()), "root open (unreadable-unwind), 1 from 7");
    EXPECT_FALSE(stack.whole());
    expect_consistent(stack);
  }
}

TEST(MergeTest, ManagedFrameAtTheRootHasNoRootRun) {
  const Stack stack =
      Scene({{0x900040, 0x7100}, {0, 0x7140}}, {entry(kMain, 0x900040, 0x7100)}).merged();
  EXPECT_THAT(frames(stack), ElementsAre("managed 900040@7100 f1"));
  EXPECT_THAT(runs(stack), IsEmpty());
  EXPECT_TRUE(stack.whole());
}

// The word at the leaf's Rsp is only a guessed return address, because the call before it goes through a register. No
// other word of the stack leads to a frame.
std::vector<ScriptedFrame> guessed() {
  return {{0x10010, 0x7000},
          {.rip = 0x20020, .rsp = 0x7020, .trust = Trust::leaf, .proven = false},
          {0x900130, 0x7090, Trust::dynamic},
          {0x20050, 0x70C0, Trust::dynamic},
          {0, 0x71C0}};
}

TEST(MergeTest, GuessThatArrivesAtTheRootIsKept) {
  const Stack stack = Scene(guessed()).merged();
  EXPECT_EQ(stack.frames.size(), 4u);
  EXPECT_TRUE(stack.whole());
  expect_consistent(stack);
}

TEST(MergeTest, GuessThatLeadsNowhereIsTakenBack) {
  auto real = guessed();
  real[3].fault = StepFault::no_unwind;
  const Stack stack = Scene(real).merged();
  EXPECT_THAT(frames(stack), ElementsAre("native 10010@7000 m0", "gap"));
  EXPECT_THAT(runs(stack), ElementsAre("leaf open (no-call), 2 from 0"));
  expect_consistent(stack);
}

TEST(MergeTest, GuessThatMeetsTheManagedFrameIsKept) {
  auto real = guessed();
  real[3].fault = StepFault::no_unwind;
  const Stack stack = Scene(real, {entry(kHelper, 0x900130, 0x7090)}).merged();
  EXPECT_EQ(text(stack.runs().at(0)), "leaf closed, 2 from 0");
  EXPECT_EQ(text(stack.frames.at(2)), "managed 900130@7090 f2");
  EXPECT_EQ(text(stack.runs().back()), "root open (no-unwind), 2 from 3");
  expect_consistent(stack);
}

// Managed code calls a leaf of the runtime through a cell. The CLR knows the leaf's caller.
TEST(MergeTest, ManagedFrameThatTheClrConfirmsIsNoGuessAnyMore) {
  const std::vector<ScriptedFrame> real = {{0x10010, 0x7000},
                                           {.rip = 0x900130,
                                            .rsp = 0x7020,
                                            .trust = Trust::leaf,
                                            .proven = false,
                                            .steps_if_guessed = false},
                                           {0x20050, 0x70C0, Trust::dynamic},
                                           {0, 0x71C0}};
  EXPECT_TRUE(Scene(real, {entry(kHelper, 0x900130, 0x7020)}).merged().whole());
  EXPECT_FALSE(Scene(real).merged().whole());
}

TEST(MergeTest, GuessThatPassesTheManagedFrameIsTakenBack) {
  const Stack stack = Scene(guessed(), {entry(kMain, 0x900040, 0x7080)}).merged();
  EXPECT_EQ(text(stack.runs().at(0)), "leaf open (no-call), 2 from 0");
  EXPECT_EQ(text(stack.frames.at(2)), "managed 900040@7080 f1");
  expect_consistent(stack);
}

// The code that a trap interrupted had called through a null pointer: that is a frame, and not the thread's root.
TEST(MergeTest, CallThroughANullPointer) {
  const Stack stack =
      Scene({{0x10010, 0x7000},
             {.rip = 0, .rsp = 0x7020, .kind = AddressKind::instruction_pointer},
             {.rip = 0x10090, .rsp = 0x7028, .trust = Trust::leaf, .proven = false},
             {0, 0x71C0}})
          .merged();
  EXPECT_THAT(frames(stack), ElementsAre("native 10010@7000 m0", "native 0@7020",
                                         "native 10090@7028 m0"));
  EXPECT_THAT(runs(stack), ElementsAre("whole root, 3 from 0"));
  expect_consistent(stack);
}

// Wine's dispatcher of exceptions is in its first instructions, where there is no trap's frame yet.
TEST(MergeTest, InterruptedAtZeroAndNothingLeadsOnIsNoFrame) {
  for (const bool guess : {false, true}) {
    std::vector<ScriptedFrame> real = {
        {0x10010, 0x7000},
        {.rip = 0, .rsp = 0x7020, .kind = AddressKind::instruction_pointer}};
    if (guess) real.push_back({.rip = 0x10090, .rsp = 0x7028, .trust = Trust::leaf, .proven = false});
    const Stack stack = Scene(real).merged();
    EXPECT_THAT(frames(stack), ElementsAre("native 10010@7000 m0", "gap"));
    EXPECT_THAT(runs(stack),
                ElementsAre(guess ? "leaf open (no-call), 2 from 0" : "leaf open (no-unwind), 2 from 0"));
    expect_consistent(stack);
  }
}

TEST(MergeTest, InterruptedAtZeroAboveAManagedFrameIsNoFrame) {
  const Stack stack = Scene({{0x10010, 0x7000},
                             {.rip = 0, .rsp = 0x7020, .kind = AddressKind::instruction_pointer}},
                            {entry(kMain, 0x900040, 0x7100)})
                          .merged();
  EXPECT_EQ(text(stack.frames.at(0)), "native 10010@7000 m0");
  EXPECT_EQ(text(stack.frames.at(1)), "gap");
  EXPECT_EQ(text(stack.frames.at(2)), "managed 900040@7100 f1");
  expect_consistent(stack);
}

// The thread itself is at address zero, whatever code it came from.
TEST(MergeTest, ThreadThatStandsAtZeroIsShownThere) {
  const Stack stack = Scene({{.rip = 0, .rsp = 0x7000}, {0, 0x71C0}}).merged();
  EXPECT_EQ(stack.frames.size(), 1u);
  const Stack open =
      Scene({{.rip = 0, .rsp = 0x7000, .fault = StepFault::no_call}, {0, 0x71C0}}).merged();
  EXPECT_THAT(frames(open), ElementsAre("native 0@7000", "gap"));
  expect_consistent(open);
}

TEST(MergeTest, WalkThatTakesTooLongIsEnded) {
  std::vector<ScriptedFrame> real;
  for (std::uint64_t i = 0; i < 600; ++i) real.push_back({0x10010, 0x7000 + i * 16});
  real.push_back({0, 0x71C00});
  Scene scene(real);
  const Stack stack = merge(scene.sample, {scene.step, scene.managed, ModuleView(kModules),
                                           scene.scratch, std::chrono::milliseconds(0)});
  EXPECT_EQ(stack.runs().at(0).why, OpenReason::too_slow);
  EXPECT_LE(stack.frames.size(), 300u);
  expect_consistent(stack);
}

TEST(MergeTest, AWalkEndsAtTheEndOfAllWalks) {
  std::vector<ScriptedFrame> real;
  for (std::uint64_t i = 0; i < 600; ++i) real.push_back({0x10010, 0x7000 + i * 16});
  real.push_back({0, 0x71C00});
  Scene scene(real);
  const Stack stack = merge(scene.sample, {.step = scene.step,
                                           .managed = scene.managed,
                                           .modules = ModuleView(kModules),
                                           .scratch = scene.scratch,
                                           .end_ns = 1});
  EXPECT_EQ(stack.runs().at(0).why, OpenReason::too_slow);
  EXPECT_LE(stack.frames.size(), 300u);
}

// The machine stands still during one of the steps.
TEST(MergeTest, WalkOnAMachineThatStoodStillGoesOn) {
  std::vector<ScriptedFrame> real;
  for (std::uint64_t i = 0; i < 600; ++i) real.push_back({0x10010, 0x7000 + i * 16});
  real.push_back({0, 0x71C00});
  Scene scene(real);
  class StandingStep final : public UnwindStep {
   public:
    explicit StandingStep(UnwindStep& step) : step_(step) {}
    StepResult step(Cursor& frame, LeafRule leaf) noexcept override {
      if (++steps_ == 300) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return step_.step(frame, leaf);
    }

   private:
    UnwindStep& step_;
    int steps_ = 0;
  } standing(scene.step);
  const Stack stack = merge(scene.sample, {standing, scene.managed, ModuleView(kModules), scene.scratch,
                                           std::chrono::milliseconds(60)});
  EXPECT_TRUE(stack.whole());
  EXPECT_EQ(stack.frames.size(), 600u);
}

TEST(MergeTest, NoManagedFrames) {
  Scene scene({{0x10010, 0x7000}, {0x10090, 0x7180}, {0, 0x71C0}});
  scene.sample.managed_walked = true;
  const Stack stack = scene.merged();
  EXPECT_THAT(frames(stack), ElementsAre("native 10010@7000 m0", "native 10090@7180 m0"));
  EXPECT_THAT(runs(stack), ElementsAre("whole root, 2 from 0"));
  EXPECT_EQ(stack.engine, Engine::copy);
  EXPECT_TRUE(stack.whole());
  expect_consistent(stack);
}

TEST(MergeTest, HolesOnlyAreNoManagedFrames) {
  Scene scene({{0x10010, 0x7000}, {0x10090, 0x7180}, {0, 0x71C0}}, {hole(0x10090, 0x7180)});
  const Stack stack = scene.merged();
  EXPECT_THAT(runs(stack), ElementsAre("whole root, 2 from 0"));
  EXPECT_EQ(stack.engine, Engine::copy);
}

TEST(MergeTest, RefusedSnapshotFallsBackToTheCopy) {
  constexpr std::uint32_t kSnapshotUnsafe = 0x80131360;
  // Entries that the CLR reported before it refused are not trusted.
  Scene scene(sandwich(), {entry(kHelper, 0xBAD, 0x7030)});
  scene.sample.managed_walked = false;
  scene.sample.refusal = kSnapshotUnsafe;
  const Stack stack = scene.merged();
  EXPECT_EQ(stack.engine, Engine::copy);
  EXPECT_EQ(stack.refusal, kSnapshotUnsafe);
  EXPECT_EQ(stack.frames, Scene(sandwich()).merged().frames);
  EXPECT_TRUE(stack.whole());
}

TEST(MergeTest, CutSnapshotFallsBackToTheCopy) {
  Scene scene(sandwich(), {entry(kHelper, 0x900130, 0x7090)});
  scene.sample.entries_cut = true;
  EXPECT_EQ(scene.merged(), Scene(sandwich()).merged());
}

TEST(MergeTest, BothEnginesGiveTheSameStack) {
  Stack snapshot = Scene(sandwich(), sandwich_entries()).merged();
  Stack copy = Scene(sandwich()).merged();
  EXPECT_EQ(snapshot.engine, Engine::snapshot);
  EXPECT_EQ(copy.engine, Engine::copy);
  EXPECT_EQ(without_trust(snapshot), without_trust(copy));
  expect_consistent(copy);
}

TEST(MergeTest, CutStackSaysSo) {
  auto real = sandwich();
  real[8].fault = StepFault::unreadable_stack;
  const std::array<std::byte, 256> large{};
  const auto begin = reinterpret_cast<std::uint64_t>(large.data());
  for (const auto& entries : {sandwich_entries(), std::vector<ManagedEntry>()}) {
    Scene whole_copy(real, entries);
    EXPECT_EQ(text(whole_copy.merged().runs().back()), "root open (unreadable-stack), 3 from 7");

    Scene cut(real, entries);
    std::array<std::byte, 64> small;
    cut.sample.stack = StackCopy(small);
    cut.sample.stack.fill(test::OwnMemory(), begin, begin + large.size());
    const Stack stack = cut.merged();
    EXPECT_EQ(text(stack.runs().back()), "root open (stack-cut), 3 from 7");
    EXPECT_FALSE(stack.whole());
  }
}

TEST(MergeTest, StubsAndDynamicMethodsInAHole) {
  // The stack is: Helper ← a thunk ← a stub ← a dynamic method, which the CLR did not report, ← coreclr ← Main.
  const std::vector<ScriptedFrame> real = {
      {0x900130, 0x7000}, {0x900410, 0x7020}, {0x900220, 0x7040}, {0x900330, 0x7060},
      {0x20050, 0x7080},  {0x900040, 0x70A0}, {0, 0x70C0}};
  Scene scene(real, {entry(kHelper, 0x900130, 0x7000), entry(kMain, 0x900040, 0x70A0)});
  const Stack stack = scene.merged();
  EXPECT_THAT(frames(stack), ElementsAre("managed 900130@7000 f2", "native 900410@7020",
                                         "stub 900220@7040 f3", "managed 900330@7060 f4",
                                         "native 20050@7080 m1", "managed 900040@70a0 f1"));
  EXPECT_THAT(runs(stack), ElementsAre("middle closed, 2 from 1", "middle closed, 1 from 4"));
  expect_consistent(stack);
  EXPECT_EQ(without_trust(stack), without_trust(Scene(real).merged()));
}

TEST(MergeTest, HoleThatTheClrBeginsBelowAStub) {
  // The CLR does not report IL_STUB_ReversePInvoke, so its hole begins at the stub's caller.
  auto real = sandwich();
  real.insert(real.begin() + 4, {0x900230, 0x70A8, Trust::dynamic});
  const Stack stack = Scene(real, sandwich_entries()).merged();
  EXPECT_EQ(text(stack.frames[4]), "stub 900230@70a8 f3");
  EXPECT_EQ(stack.frames[4].trust, Trust::dynamic);
  EXPECT_EQ(text(stack.frames[5]), "native 20050@70c0 m1");
  EXPECT_EQ(text(stack.runs()[1]), "middle closed, 3 from 4");
  expect_consistent(stack);
  EXPECT_EQ(without_trust(stack), without_trust(Scene(real).merged()));
}

TEST(MergeTest, HoleWhoseBeginningIsPassedIsOpenAboveIt) {
  auto real = sandwich();
  real.insert(real.begin() + 4, {{0x900230, 0x70A8}, {0x20044, 0x70C8}});
  const Stack stack = Scene(real, sandwich_entries()).merged();
  EXPECT_THAT(runs(stack),
              ElementsAre("leaf closed, 3 from 0", "middle open (passed-bound), 2 from 4",
                          "middle closed, 2 from 6", "root root, 2 from 9"));
  EXPECT_FALSE(stack.whole());
  expect_consistent(stack);
}

TEST(MergeTest, HoleThatBeginsElsewhereInItsFrameSaysWhyItIsOpen) {
  auto entries = sandwich_entries();
  entries[1] = hole(0x10020, 0x70C0);  // unwinding arrives at this Rsp in coreclr, not in ntdll
  auto real = sandwich();
  real.insert(real.begin() + 5, {0x10020, 0x70C0});
  real.insert(real.begin() + 5, {0, 0x70D0});
  const Stack stack = Scene(real, entries).merged();
  EXPECT_EQ(text(stack.runs().at(1)), "middle open (wrong-function), 1 from 4");
  EXPECT_EQ(text(stack.runs().at(2)), "middle closed, 2 from 5");
  EXPECT_FALSE(stack.whole());
  expect_consistent(stack);
}

TEST(MergeTest, ManagedFrameThatCannotBeUnwoundLeavesAGapAboveItsHole) {
  // The frames between it and the hole that the CLR reports (stubs) are not known.
  auto real = sandwich();
  real[3].fault = StepFault::no_unwind;
  const Stack stack = Scene(real, sandwich_entries()).merged();
  EXPECT_THAT(runs(stack), ElementsAre("leaf closed, 3 from 0", "middle open (no-unwind), 1 from 4",
                                       "middle closed, 2 from 5", "root root, 2 from 8"));
  EXPECT_FALSE(stack.whole());
  expect_consistent(stack);
}

TEST(MergeTest, ManagedFrameThatCannotBeUnwoundLeavesAGapAboveTheNextOne) {
  auto real = sandwich();
  real[3].fault = StepFault::no_unwind;
  const Stack stack =
      Scene(real, {entry(kHelper, 0x900130, 0x7090), entry(kMain, 0x900040, 0x7100)}).merged();
  EXPECT_EQ(text(stack.runs().at(1)), "middle open (no-unwind), 1 from 4");
  EXPECT_EQ(text(stack.frames.at(5)), "managed 900040@7100 f1");
  expect_consistent(stack);
}

TEST(MergeTest, ReadyToRunCodeIsWhatTheClrSaysItIs) {
  const std::vector<ScriptedFrame> real = {
      {0x30150, 0x7000}, {0x30250, 0x7020}, {0x900040, 0x7040}, {0x10090, 0x7060}, {0, 0x7080}};
  Scene copy(real);
  const Stack stack = copy.merged();
  EXPECT_THAT(frames(stack), ElementsAre("managed 30150@7000 f5 m2", "stub 30250@7020 m2",
                                         "managed 900040@7040 f1", "native 10090@7060 m0"));
  Scene snapshot(real, {entry(kReadyToRun, 0x30150, 0x7000), entry(kMain, 0x900040, 0x7040)});
  EXPECT_EQ(without_trust(snapshot.merged()), without_trust(stack));
}

TEST(MergeTest, NativeImagesAreNotAskedAbout) {
  Scene scene(sandwich());
  scene.merged();
  // Return addresses are looked up on their calls, and 0x20020's call is in coreclr's image.
  EXPECT_THAT(scene.managed.asked(), ElementsAre(0x90021F, 0x90012F, 0x90003F));
}

TEST(MergeTest, FunctionWithoutUnwindDataIsALeafAtTheTopOnly) {
  std::vector<ScriptedFrame> real = sandwich();
  real[0].leaf = true;
  EXPECT_TRUE(Scene(real).merged().whole());
  EXPECT_TRUE(Scene(real, sandwich_entries()).merged().whole());
  real[1].leaf = true;
  EXPECT_EQ(text(Scene(real).merged().runs().back()), "leaf open (no-unwind), 3 from 0");
  EXPECT_EQ(text(Scene(real, sandwich_entries()).merged().runs().front()),
            "leaf open (no-unwind), 3 from 0");
  // Under a trap's frame a leaf function is possible again, because the code was interrupted there and made no call.
  real[1].kind = AddressKind::instruction_pointer;
  EXPECT_TRUE(Scene(real).merged().whole());
  EXPECT_TRUE(Scene(real, sandwich_entries()).merged().whole());
}

TEST(MergeTest, FrameLimit) {
  Scene scene(sandwich(), sandwich_entries());
  scene.scratch.resize(2);
  const Stack stack = scene.merged();
  EXPECT_THAT(runs(stack), ElementsAre("leaf open (frame-limit), 3 from 0",
                                       "middle closed, 2 from 4", "root root, 2 from 7"));
  EXPECT_EQ(text(stack.frames.at(3)), "managed 900130@7090 f2");
  expect_consistent(stack);
}

// Unwind data that refers to itself.
class EndlessStep final : public UnwindStep {
 public:
  StepResult step(Cursor& frame, LeafRule) noexcept override {
    frame.registers[Register::rsp] += 8;
    return {};
  }
};

TEST(MergeTest, EndlessStackEndsAtTheFrameLimit) {
  EndlessStep step;
  ManagedCodeTable managed = clr_code();
  RawSample sample({}, {});
  sample.context.rip = 0x10010;
  sample.context[Register::rsp] = 0x7000;
  const Stack stack = merge(sample, {step, managed, ModuleView(kModules), {}});
  EXPECT_EQ(stack.frames.size(), kMaxFrames + 1);
  ASSERT_EQ(stack.runs().size(), 1u);
  EXPECT_EQ(stack.runs()[0].why, OpenReason::frame_limit);
  expect_consistent(stack);
}

// The thread's instruction is known nevertheless.
TEST(MergeTest, ThreadOffItsOwnStackIsShownWhereItStands) {
  Scene scene(sandwich());
  scene.sample.fault = CaptureFault::off_stack;
  const Stack stack = scene.merged();
  EXPECT_THAT(frames(stack), ElementsAre("native 10010@7000 m0", "gap"));
  EXPECT_THAT(runs(stack), ElementsAre("leaf open (off-stack), 2 from 0"));
  EXPECT_FALSE(stack.whole());
  EXPECT_EQ(scene.step.steps(), 0u);
  expect_consistent(stack);
}

// A fiber has called no managed code. The CLR's frames lie on the stack from which the thread was switched, below the
// fiber's own stack in one case and above it in the other.
TEST(MergeTest, ManagedFramesOfAnotherStackAreLeftOut) {
  const std::vector<ScriptedFrame> fiber = {{0x10010, 0x7000}, {0x10090, 0x7040}, {0, 0x7080}};
  for (const std::uint64_t other : {0x3000u, 0x23000u}) {
    Scene scene(fiber, {entry(kHelper, 0x900130, other), hole(0x20050, other + 0x30),
                        entry(kMain, 0x900040, other + 0x70), hole(0x20080, other + 0xB0)});
    const Stack stack = scene.merged();
    EXPECT_THAT(frames(stack), ElementsAre("native 10010@7000 m0", "native 10090@7040 m0", "gap"));
    EXPECT_THAT(runs(stack), ElementsAre("leaf open (ended-at-root), 3 from 0"));
    expect_consistent(stack);
  }
}

// The fiber itself has called managed code, which has called native code.
TEST(MergeTest, ManagedFramesOfTheFiberComeBeforeThoseOfAnotherStack) {
  Scene scene(sandwich(), sandwich_entries());
  scene.entries.push_back(entry(kHelper, 0x900130, 0x3000));
  scene.sample.entry_buffer = scene.entries;
  scene.sample.entry_count = scene.entries.size();
  const Stack stack = scene.merged();
  EXPECT_EQ(stack.frames.size(), sandwich().size());  // the gap takes the place of the root
  EXPECT_EQ(text(stack.runs().back()), "root open (ended-at-root), 3 from 7");
  expect_consistent(stack);
}

// A frame that was met where another function was expected may be the thread's own.
TEST(MergeTest, WhereTheThreadStandsIsNeverLeftOut) {
  Scene scene(sandwich(), {entry(kMain, 0x900040, 0x7000)});
  const Stack stack = scene.merged();
  EXPECT_EQ(text(stack.frames.at(0)), "native 10010@7000 m0");
  EXPECT_EQ(text(stack.runs().at(0)), "leaf open (wrong-function), 2 from 0");
  expect_consistent(stack);
}

TEST(MergeTest, ThreadThatGaveNoSampleHasNoStack) {
  for (const CaptureFault fault : {CaptureFault::not_suspended, CaptureFault::overdue}) {
    Scene scene(sandwich(), sandwich_entries());
    scene.sample.fault = fault;
    const Stack stack = scene.merged();
    EXPECT_THAT(stack.frames, IsEmpty());
    EXPECT_THAT(stack.runs(), IsEmpty());
    EXPECT_FALSE(stack.whole());
    EXPECT_EQ(scene.step.steps(), 0u);
  }
}

// Native code calls code of a script engine at 0xA00000, which calls native code.
std::vector<ScriptedFrame> script(bool caller_calls_other_code) {
  ScriptedFrame code{0xA00010, 0x7020};
  code.caller_calls_other_code = caller_calls_other_code;
  return {{0x10010, 0x7000}, code, {0x10090, 0x7180, Trust::dynamic}, {0, 0x71C0}};
}

TEST(MergeTest, CodeOutsideTheImagesThatItsCallerCalls) {
  Scene scene(script(false));
  EXPECT_THAT(runs(scene.merged()), ElementsAre("whole root, 3 from 0"));
}

TEST(MergeTest, CodeOutsideTheImagesWhoseCallerCallsOtherCode) {
  Scene scene(script(true));
  const Stack stack = scene.merged();
  EXPECT_THAT(frames(stack), ElementsAre("native 10010@7000 m0", "native a00010@7020", "gap"));
  EXPECT_THAT(runs(stack), ElementsAre("leaf open (no-call), 3 from 0"));
}

// The runtime and tail calls reach methods by jumps.
TEST(MergeTest, CodeOfTheRuntimeWhoseCallerCallsOtherCode) {
  std::vector<ScriptedFrame> frames = sandwich();
  for (ScriptedFrame& frame : frames) frame.caller_calls_other_code = frame.rip >= 0x900000;
  Scene scene(frames);
  EXPECT_THAT(runs(scene.merged()).back(), "root root, 2 from 7");
}

// Helper was called by Main, and the runtime has exchanged its return address.
std::vector<ScriptedFrame> replaced_return() {
  return {
      {.rip = 0x900130, .rsp = 0x7090, .fault = StepFault::return_replaced},
      {0x900040, 0x7100},
      {0x10090, 0x7180},
      {0, 0x71C0},
  };
}

TEST(MergeTest, TheRuntimeKnowsTheReturnAddressThatItHasExchanged) {
  Scene scene(replaced_return(), {entry(kHelper, 0x900130, 0x7090), entry(kMain, 0x900040, 0x7100)});
  const Stack stack = scene.merged();
  EXPECT_THAT(frames(stack), ElementsAre("managed 900130@7090 f2", "managed 900040@7100 f1", "native 10090@7180 m0"));
  EXPECT_THAT(runs(stack), ElementsAre("root root, 1 from 2"));
}

// Something is between the two that the runtime does not report.
TEST(MergeTest, AnExchangedReturnAddressBelowAnotherFrame) {
  Scene scene(replaced_return(), {entry(kHelper, 0x900130, 0x7090), entry(kMain, 0x900040, 0x7140)});
  const Stack stack = scene.merged();
  EXPECT_THAT(runs(stack), testing::Contains("middle open (return-replaced), 1 from 1"));
}

TEST(MergeTest, AnExchangedReturnAddressHasItsOwnReason) {
  Scene scene(replaced_return());
  const Stack stack = scene.merged();
  EXPECT_THAT(frames(stack), ElementsAre("managed 900130@7090 f2", "gap"));
  EXPECT_THAT(runs(stack), ElementsAre("root open (return-replaced), 1 from 1"));
}

TEST(MergeTest, ANativeFrameCalledTheMethodWhoseReturnAddressIsExchanged) {
  Scene scene({{.rip = 0x900130, .rsp = 0x7090, .fault = StepFault::return_replaced},
               {0x20080, 0x7100},
               {0x10090, 0x7180},
               {0, 0x71C0}},
              {entry(kHelper, 0x900130, 0x7090), hole(0x20080, 0x7100)});
  EXPECT_THAT(runs(scene.merged()), ElementsAre("root root, 2 from 1"));
}

}  // namespace
}  // namespace mixwalk
