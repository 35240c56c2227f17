#include "walker/outside/outside_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "tests/builders/dump_samples.h"
#include "tests/builders/function_table_list.h"
#include "tests/builders/image_builder.h"
#include "tests/walker/target/fake_files.h"
#include "walker/shown/words.h"
#include "walker/target/dump_target.h"

namespace mixwalk {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr std::uint64_t kJitted = 0x7000'0040;  // outside the images

// Adds code outside the images: 0x100 bytes from 0x7000'0000 on, with a call through a register that ends at 0x42.
DumpBuilder with_outside_code(DumpBuilder dump) {
  std::vector<std::byte> code(0x100, std::byte{0x90});
  code[0x40] = std::byte{0xFF};
  code[0x41] = std::byte{0xD0};
  return dump.memory(0x7000'0000, code);
}

// A process with one thread at `rip`, with these words on its stack.
DumpBuilder standing_at(std::uint64_t rip, const std::vector<std::uint64_t>& words, bool runtime = false) {
  DumpBuilder dump;
  const auto app = loaded(app_image()), ntdll = loaded(ntdll_image());
  dump.module(kAppBase, static_cast<std::uint32_t>(app.size()), ImageBuilder::kTimestamp, "C:\\app\\app.exe");
  dump.module(kNtdllBase, static_cast<std::uint32_t>(ntdll.size()), ImageBuilder::kTimestamp,
              "C:\\windows\\ntdll.dll");
  if (runtime) dump.module(0x1'9000'0000, 0x1000, 1, "C:\\net\\coreclr.dll");
  dump.memory(kAppBase, app).memory(kNtdllBase, ntdll);
  dump.memory(stack_of(words.size()), stack_with(words));
  dump.thread({.id = 1, .stack = stack_of(words.size()), .stack_bytes = static_cast<std::uint32_t>(8 * words.size()),
               .registers = DumpBuilder::at(rip, stack_of(words.size()))});
  return with_outside_code(dump);
}

// The same with so many threads, which all stand there.
DumpBuilder all_standing_at(std::uint64_t rip, const std::vector<std::uint64_t>& words, std::uint32_t threads) {
  DumpBuilder dump = standing_at(rip, words, true);
  const std::uint64_t stack = stack_of(words.size());
  for (std::uint32_t id = 2; id <= threads; ++id) {
    dump.thread({.id = id, .stack = stack, .stack_bytes = static_cast<std::uint32_t>(8 * words.size()),
                 .registers = DumpBuilder::at(rip, stack)});
  }
  return dump;
}

class KnownCode final : public ManagedCode {
 public:
  Function at(std::uint64_t ip) noexcept override { return {ip - from < bytes ? id : 0, false}; }
  std::uint64_t from = 0, bytes = 0, id = 7;
};

// Jitted code whose frames have one word and the return address.
class WordFrames final : public JittedStep {
 public:
  StepResult step(Cursor& frame, LeafRule, const StackCopy& stack) noexcept override {
    std::uint64_t& rsp = frame.registers[Register::rsp];
    const auto caller = stack.read_value<std::uint64_t>(rsp + 8);
    if (!caller) return {StepFault::unreadable_stack};
    frame.registers.rip = *caller;
    rsp += 16;
    frame.kind = AddressKind::return_address;
    return {.trust = Trust::dynamic};
  }
};

class OutsideWalkTest : public ::testing::Test {
 protected:
  Snapshot walk(const DumpBuilder& dump, const OutsideLimits& limits = {}) {
    file_ = dump.build();
    const Minidump read = Minidump::parse(file_);
    EXPECT_EQ(read.error(), MinidumpError::none);
    DiskImages disk(no_files_, folder_files_, parse_symbol_path("/symbols"));
    DumpTarget target(read, disk);
    return walk_outside(target, {managed_, jitted_, wanted_, ask_anew_, calls_of_}, limits);
  }
  static std::vector<std::string> frames(const Stack& stack) {
    std::vector<std::string> lines;
    for (const Frame& frame : stack.frames) {
      char line[64];
      std::snprintf(line, sizeof line, " %llx", static_cast<unsigned long long>(frame.address));
      lines.push_back(std::string(enum_name(frame.kind)) + (frame.kind == FrameKind::gap ? "" : line));
    }
    return lines;
  }

  std::vector<std::byte> file_;
  NoImageFiles no_files_;
  FakeFiles folder_files_;
  KnownCode managed_;
  JittedStep* jitted_ = nullptr;
  std::function<bool(const TargetThread&)> wanted_;
  std::function<bool(Snapshot&)> ask_anew_;
  std::function<std::vector<RuntimeCall>(std::uint32_t, const StackCopy&)> calls_of_;
};

TEST_F(OutsideWalkTest, FramesInImagesLeadToTheRoot) {
  const Snapshot snapshot = walk(two_frames());
  ASSERT_THAT(snapshot.threads, SizeIs(1));
  const Thread& thread = snapshot.threads[0];
  EXPECT_EQ(thread.os_id, 0x1A8u);
  EXPECT_EQ(thread.name, "Ada");
  EXPECT_THAT(frames(thread.stack), ElementsAre("native 140001020", "native 180001020"));
  EXPECT_TRUE(thread.stack.whole());
  ASSERT_THAT(snapshot.modules, SizeIs(2));
  EXPECT_EQ(snapshot.modules[0].path, "C:\\app\\app.exe");
  EXPECT_EQ(thread.stack.frames[1].module, 1);
  EXPECT_EQ(snapshot.unix_time_ms, std::uint64_t{DumpBuilder::kTime} * 1000);
}

// Real case: "ran for 1.8 s of 1.3 s". The moment of a dump was that of its end, seconds after the processor times.
TEST_F(OutsideWalkTest, TheMomentOfADumpIsThatOfItsProcessorTimes) {
  file_ = two_frames().build();
  const Minidump read = Minidump::parse(file_);
  DiskImages disk(no_files_, folder_files_, {});
  const DumpTarget dump(read, disk);
  Snapshot snapshot{.threads = {{.os_id = 0x1A8}, {.os_id = 0x999}}};
  add_thread_times(snapshot, dump);
  EXPECT_EQ(snapshot.unix_time_ms, std::uint64_t{DumpBuilder::kTime} * 1000);
  EXPECT_EQ(snapshot.threads[0].cpu, dump.threads()[0].cpu);
  EXPECT_FALSE(snapshot.threads[1].cpu);
}

// A dump, of which a test may change something.
class ChangedDump : public Target {
 public:
  explicit ChangedDump(Target& dump) : dump_(dump) {}

  const Process& process() const noexcept override { return dump_.process(); }
  std::uint64_t unix_time_ms() const noexcept override { return dump_.unix_time_ms(); }
  std::span<const Module> modules() const noexcept override { return dump_.modules(); }
  std::span<const TargetThread> threads() const noexcept override { return dump_.threads(); }
  const MemoryReader& memory() const noexcept override { return dump_.memory(); }
  OutsideMemory& outside() noexcept override { return dump_.outside(); }
  void capture(const TargetThread& thread, RawSample& sample) override { dump_.capture(thread, sample); }

 private:
  Target& dump_;
};

// One image is replaced by another one when it is read again.
class ReplacedImage final : public ChangedDump {
 public:
  ReplacedImage(Target& dump, std::uint64_t base) : ChangedDump(dump), base_(base) {}
  bool is_still_loaded(std::uint64_t base) override { return base != base_; }

 private:
  std::uint64_t base_;
};

TEST_F(OutsideWalkTest, AStackInAnImageThatWasReplacedIsNone) {
  file_ = two_frames().build();
  const Minidump read = Minidump::parse(file_);
  DiskImages disk(no_files_, folder_files_, {});
  DumpTarget dump(read, disk);
  ReplacedImage replaced(dump, kNtdllBase), other(dump, 0x1'9000'0000);
  const Thread thread = walk_outside(replaced, {managed_, jitted_, wanted_, ask_anew_}).threads.at(0);
  EXPECT_EQ(thread.skipped, "code on its stack went away while it was looked at");
  EXPECT_TRUE(thread.stack.frames.empty());
  EXPECT_EQ(thread.name, "Ada");
  EXPECT_TRUE(walk_outside(other, {managed_, jitted_, wanted_, ask_anew_}).threads.at(0).stack.whole());
}

TEST_F(OutsideWalkTest, AZeroInAnotherImageIsNoRoot) {
  const Snapshot snapshot = walk(standing_at(kInNtdll, {kInApp, 0, 0}));
  EXPECT_THAT(frames(snapshot.threads[0].stack), ElementsAre("native 180001020", "native 140001020", "gap"));
  EXPECT_EQ(snapshot.threads[0].stack.runs().back().why, OpenReason::ended_early);
}

TEST_F(OutsideWalkTest, JittedCodeIsAGapWhereNobodyKnowsIt) {
  const Snapshot snapshot = walk(standing_at(kInApp, {kJitted + 2, 0x1234, kInNtdll, 0}, true));
  EXPECT_EQ(snapshot.runtime.name, ".NET");
  EXPECT_THAT(frames(snapshot.threads[0].stack), ElementsAre("native 140001020", "native 70000042", "gap"));
  EXPECT_EQ(snapshot.threads[0].stack.runs().back().why, OpenReason::no_unwind);
}

TEST_F(OutsideWalkTest, JittedCodeIsSteppedThroughByWhoKnowsIt) {
  WordFrames jitted;
  jitted_ = &jitted;
  managed_.from = 0x7000'0000, managed_.bytes = 0x100;
  const Snapshot snapshot = walk(standing_at(kInApp, {kJitted + 2, 0x1234, kInNtdll, 0}, true));
  const Stack& stack = snapshot.threads[0].stack;
  EXPECT_THAT(frames(stack), ElementsAre("native 140001020", "managed 70000042", "native 180001020"));
  EXPECT_EQ(stack.frames[1].function, 7u);
  EXPECT_TRUE(stack.whole());
}

// Each step takes as long as a forged dump likes.
TEST_F(OutsideWalkTest, AWalkEndsWhenTheTimeOfAllWalksIsOver) {
  static constexpr std::chrono::milliseconds kTime{100};
  class SlowFrames final : public JittedStep {
   public:
    StepResult step(Cursor& frame, LeafRule leaf, const StackCopy& stack) noexcept override {
      if (++steps_ == 1) std::this_thread::sleep_for(kTime);
      return frames_.step(frame, leaf, stack);
    }

   private:
    WordFrames frames_;
    int steps_ = 0;
  } jitted;
  jitted_ = &jitted;
  managed_.from = 0x7000'0000, managed_.bytes = 0x100;
  std::vector<std::uint64_t> words;
  for (int i = 0; i < 1000; ++i) words.insert(words.end(), {kJitted + 2, 0x1234});
  words.insert(words.end(), {kInNtdll, 0});
  const auto dump = standing_at(kInApp, words, true);
  const Snapshot snapshot = walk(dump, {.time = kTime});
  EXPECT_LT(snapshot.threads[0].stack.frames.size(), 1000u);
  EXPECT_TRUE(walk(dump).threads[0].stack.whole());
}

TEST_F(OutsideWalkTest, BehindAGapTheWalkGoesOnAtACallerThatTheRuntimeKnows) {
  calls_of_ = [](std::uint32_t os_id, const StackCopy& stack) {
    RuntimeCall call{.function = os_id};
    call.caller.kind = AddressKind::return_address;
    call.caller.registers.rip = kInNtdll;
    call.caller.registers[Register::rsp] = stack.begin() + 24;
    return std::vector<RuntimeCall>{call};
  };
  const Snapshot snapshot = walk(standing_at(kInApp, {kJitted + 2, 0x1234, kInNtdll, 0}, true));
  EXPECT_THAT(frames(snapshot.threads[0].stack),
              ElementsAre("native 140001020", "native 70000042", "gap", "native 180001020"));
  EXPECT_EQ(snapshot.calls, (CallAgreement{.calls = 1}));
}

TEST_F(OutsideWalkTest, CodeThatWasCompiledMeanwhileIsAskedForAnew) {
  WordFrames jitted;
  const DumpBuilder dump = standing_at(kInApp, {kJitted + 2, 0x1234, kInNtdll, 0}, true);
  int asked = 0;
  bool runs = true;
  ask_anew_ = [&](Snapshot&) {
    ++asked;
    if (runs) managed_.from = 0x7000'0000, managed_.bytes = 0x100;
    return runs;
  };
  // The library knows the code, but not as managed code.
  jitted_ = &jitted;
  managed_.from = managed_.bytes = 0;
  EXPECT_TRUE(walk(dump, {.between_asking_anew = {}}).threads[0].stack.whole());
  EXPECT_EQ(asked, 0) << "a whole stack needs no more answers";

  class Unknown final : public JittedStep {
   public:
    explicit Unknown(const KnownCode& code) : code_(code) {}
    StepResult step(Cursor& frame, LeafRule leaf, const StackCopy& stack) noexcept override {
      return code_.bytes == 0 ? StepResult{StepFault::no_unwind} : known_.step(frame, leaf, stack);
    }

   private:
    const KnownCode& code_;
    WordFrames known_;
  } unknown(managed_);
  jitted_ = &unknown;
  EXPECT_FALSE(walk(dump, {.between_asking_anew = std::chrono::hours(1)}).threads[0].stack.whole());
  EXPECT_EQ(asked, 0) << "what is known was read just now";
  runs = false;
  EXPECT_FALSE(walk(dump, {.between_asking_anew = {}}).threads[0].stack.whole());
  EXPECT_EQ(asked, 1);
  runs = true;
  managed_.bytes = 0;
  const Stack stack = walk(dump, {.between_asking_anew = {}}).threads[0].stack;
  EXPECT_EQ(asked, 2);
  EXPECT_THAT(frames(stack), ElementsAre("native 140001020", "managed 70000042", "native 180001020"));
  EXPECT_TRUE(stack.whole());
}

// The page of the code did not exist yet when its kind was asked.
class NewPage final : public ChangedDump, OutsideMemory {
 public:
  explicit NewPage(Target& dump) : ChangedDump(dump) {}
  OutsideMemory& outside() noexcept override { return *this; }
  MemoryKind kind(std::uint64_t address) noexcept override {
    const bool known = exists || address - 0x7000'0000 >= 0x100;
    return known ? ChangedDump::outside().kind(address) : MemoryKind::nothing;
  }

  bool exists = false;
};

TEST_F(OutsideWalkTest, CodeInANewPageIsAskedForAnew) {
  file_ = all_standing_at(kInApp, {kJitted + 2, 0x1234, kInNtdll, 0}, 2).build();
  const Minidump read = Minidump::parse(file_);
  DiskImages disk(no_files_, folder_files_, {});
  DumpTarget dump(read, disk);
  NewPage target(dump);
  WordFrames jitted;
  managed_.from = 0x7000'0000, managed_.bytes = 0x100;
  int asked = 0, right = 0;
  const OutsideKnowledge knowledge{managed_, &jitted, {}, [&](Snapshot&) {
    target.exists = ++asked == right;
    return true;
  }};
  const auto stacks = [&](std::chrono::milliseconds between) {
    asked = 0;
    target.exists = false;
    std::vector<std::vector<std::string>> out;
    for (const Thread& thread : walk_outside(target, knowledge, {.between_asking_anew = between}).threads) {
      out.push_back(frames(thread.stack));
    }
    return out;
  };
  const std::vector<std::string> gap{"native 140001020", "gap"},
      whole{"native 140001020", "managed 70000042", "native 180001020"};
  right = 1;
  EXPECT_THAT(stacks(std::chrono::hours(1)), ElementsAre(whole, whole)) << "the first time, nothing is waited for";
  EXPECT_EQ(asked, 1);
  right = 2;
  EXPECT_THAT(stacks(std::chrono::hours(1)), ElementsAre(gap, gap)) << "what is known was read just now";
  EXPECT_EQ(asked, 1);
}

// Behind the new page, another return address is refused.
TEST_F(OutsideWalkTest, OfTwoStacksThatAreNotWholeTheOneWithMoreManagedFramesIsTaken) {
  file_ = standing_at(kInApp, {kJitted + 2, 0x1234, kJitted + 8, 0}, true).build();
  const Minidump read = Minidump::parse(file_);
  DiskImages disk(no_files_, folder_files_, {});
  DumpTarget dump(read, disk);
  NewPage target(dump);
  WordFrames jitted;
  managed_.from = kJitted, managed_.bytes = 8;
  int asked = 0;
  const OutsideKnowledge made{managed_, &jitted, {}, [&](Snapshot&) { return target.exists = ++asked != 0; }};
  EXPECT_THAT(frames(walk_outside(target, made).threads.at(0).stack),
              ElementsAre("native 140001020", "managed 70000042", "gap"));
  const OutsideKnowledge freed{managed_, &jitted, {}, [&](Snapshot&) {
    managed_.bytes = 0;
    return ++asked != 0;
  }};
  EXPECT_THAT(frames(walk_outside(target, freed).threads.at(0).stack),
              ElementsAre("native 140001020", "managed 70000042", "gap"));
  EXPECT_EQ(asked, 2);
}

// A target that does not run has nothing new for any of its threads.
TEST_F(OutsideWalkTest, AfterARefusalNothingIsAskedForAnew) {
  const DumpBuilder dump = all_standing_at(kInApp, {kJitted + 2, 0x1234, kInNtdll, 0}, 9);
  int asked = 0;
  ask_anew_ = [&](Snapshot&) { return ++asked == 0; };
  EXPECT_THAT(walk(dump, {.between_asking_anew = {}}).threads, SizeIs(9));
  EXPECT_EQ(asked, 1);
}

// The runtime has registered the unwind data of a method that the library does not know yet. The stack is whole, but
// the method's frame would stay a native one.
TEST_F(OutsideWalkTest, ANewMethodWithARegisteredTableIsAskedForAnew) {
  int asked = 0;
  ask_anew_ = [&](Snapshot&) {
    ++asked;
    managed_.from = kRegisteredCode, managed_.bytes = 0x100;
    return true;
  };
  DumpBuilder dump = registered_code(FunctionTableList::kGrowable);
  const Stack stack = walk(dump, {.between_asking_anew = {}}).threads.at(0).stack;
  EXPECT_THAT(frames(stack), ElementsAre("managed 70000060", "native 140001020", "native 180001020"));
  EXPECT_EQ(asked, 1);
  // Code that stays unknown is not asked for twice.
  asked = 0;
  managed_.bytes = 0;
  ask_anew_ = [&](Snapshot&) { return ++asked != 0; };
  dump.thread({.id = 3, .stack = 0x30'0000, .stack_bytes = 64,
               .registers = DumpBuilder::at(kRegisteredCode + 0x60, 0x30'0000)});
  const Snapshot both = walk(dump, {.between_asking_anew = {}});
  EXPECT_TRUE(both.threads.at(1).stack.whole());
  EXPECT_EQ(asked, 1);
}

TEST_F(OutsideWalkTest, CodeThatStaysUnknownIsNotAskedForTwice) {
  const DumpBuilder dump = all_standing_at(kInApp, {kJitted + 2, 0x1234, kInNtdll, 0}, 4);
  int asked = 0;
  std::size_t walked = 0;
  ask_anew_ = [&](Snapshot& so_far) {
    ++asked;
    walked = so_far.threads.size();
    return true;
  };
  const Snapshot snapshot = walk(dump, {.between_asking_anew = {}});
  ASSERT_THAT(snapshot.threads, SizeIs(4));
  EXPECT_FALSE(snapshot.threads[3].stack.whole());
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(walked, 0u) << "before the first thread was finished";
}

TEST_F(OutsideWalkTest, CodeOutsideIsGuessedThroughWhereNoRuntimeIs) {
  const std::vector<std::uint64_t> words = {kJitted + 2, 0x1234, kInApp, kInNtdll, 0};
  const Snapshot snapshot = walk(standing_at(kInApp, words));
  EXPECT_EQ(snapshot.runtime.name, "");
  const Stack& stack = snapshot.threads[0].stack;
  EXPECT_THAT(frames(stack), ElementsAre("native 140001020", "native 70000042", "native 140001020",
                                         "native 180001020"));
  EXPECT_EQ(stack.completeness(), Completeness::guessed);
  EXPECT_THAT(frames(walk(standing_at(kInApp, words, true)).threads[0].stack),
              ElementsAre("native 140001020", "native 70000042", "gap"));
}

// Another engine has registered the unwind data of its code with the system. A word above the frame looks like a return
// address, and would be taken for one by a guess.
TEST_F(OutsideWalkTest, CodeForWhichTheProgramHasRegisteredAFunctionTable) {
  for (const std::uint32_t kind : {FunctionTableList::kSorted, FunctionTableList::kUnsorted,
                                   FunctionTableList::kGrowable}) {
    const Stack stack = walk(registered_code(kind)).threads.at(0).stack;
    EXPECT_THAT(frames(stack), ElementsAre("native 70000060", "native 140001020", "native 180001020"));
    EXPECT_TRUE(stack.whole());
    EXPECT_EQ(stack.frames[1].trust, Trust::dynamic);
  }
}

TEST_F(OutsideWalkTest, CodeWhoseUnwindDataOnlyACallbackHasIsGuessedThrough) {
  DumpBuilder dump = registered_code(FunctionTableList::kCallback);
  EXPECT_EQ(walk(dump).threads.at(0).stack.completeness(), Completeness::guessed);
  // Nothing on this stack can be a caller.
  dump.memory(0x40'0000, stack_with({1, 2, 3, 4}))
      .thread({.id = 3, .stack = 0x40'0000, .stack_bytes = 32,
               .registers = DumpBuilder::at(kRegisteredCode + 0x60, 0x40'0000)});
  const Stack open = walk(dump).threads.at(1).stack;
  EXPECT_THAT(frames(open), ElementsAre("native 70000060", "gap"));
  EXPECT_EQ(open.runs().at(0).why, OpenReason::unwind_callback);
}

// The table is stale: its unwind data lies where nothing is, or contradicts itself.
TEST_F(OutsideWalkTest, ARegisteredTableWithoutReadableUnwindDataCountsAsNone) {
  const auto with_info = [&](std::uint32_t at) {
    return walk(registered_code(FunctionTableList::kSorted, at)).threads.at(0).stack.completeness();
  };
  EXPECT_EQ(with_info(0xC0), Completeness::whole);
  EXPECT_EQ(with_info(0x10'0000), Completeness::guessed);
  EXPECT_EQ(with_info(0x50), Completeness::guessed) << "version 0x90 & 7 of unwind data";
}

TEST_F(OutsideWalkTest, AnImageThatIsNeitherInTheDumpNorOnDiskEndsTheWalk) {
  DumpBuilder dump;
  const auto size = static_cast<std::uint32_t>(loaded(app_image()).size());
  dump.module(kAppBase, size, ImageBuilder::kTimestamp, "C:\\app\\app.exe");
  dump.memory(stack_of(2), stack_with({kInNtdll, 0}));
  dump.thread({.id = 1, .stack = stack_of(2), .stack_bytes = 16, .registers = DumpBuilder::at(kInApp, stack_of(2))});
  EXPECT_THAT(frames(walk(dump).threads[0].stack), ElementsAre("native 140001020", "gap"));
  EXPECT_EQ(walk(dump).threads[0].stack.runs()[0].why, OpenReason::unreadable_unwind);
}

TEST_F(OutsideWalkTest, FilesInTheFoldersStandInForMemoryThatTheDumpLacks) {
  DumpBuilder dump;
  const auto size = static_cast<std::uint32_t>(loaded(app_image()).size());
  const auto ntdll_size = static_cast<std::uint32_t>(loaded(ntdll_image()).size());
  dump.module(kAppBase, size, ImageBuilder::kTimestamp, "C:\\app\\app.exe");
  dump.module(kNtdllBase, ntdll_size, ImageBuilder::kTimestamp, "C:\\windows\\ntdll.dll");
  dump.memory(stack_of(2), stack_with({kInNtdll, 0}));
  dump.thread({.id = 1, .stack = stack_of(2), .stack_bytes = 16, .registers = DumpBuilder::at(kInApp, stack_of(2))});
  folder_files_.files["/symbols/app.exe"] = app_image();
  // The image lies as in a symbol store, beside a file with the same name that is another build, without unwind data.
  auto other = ImageBuilder().build();
  ImageBuilder::put32(other, ImageBuilder::kPeAt + 8, 1);
  folder_files_.files["/symbols/ntdll.dll"] = other;
  char id[32];
  std::snprintf(id, sizeof id, "%08X%x", ImageBuilder::kTimestamp, ntdll_size);
  folder_files_.files["/symbols/ntdll.dll/" + std::string(id) + "/ntdll.dll"] = ntdll_image();
  const Snapshot snapshot = walk(dump);
  EXPECT_THAT(frames(snapshot.threads[0].stack), ElementsAre("native 140001020", "native 180001020"));
  EXPECT_TRUE(snapshot.threads[0].stack.whole());
}

// The content of the import's slot in the file is not what the loader put there.
TEST_F(OutsideWalkTest, ACallThroughAnImportIsBelievedWhereOnlyTheFileIsThere) {
  ImageBuilder app;
  app.function(0x1000, 0x1080).import("ntdll.dll", "NtWait");
  const std::uint32_t to_slot = ImageBuilder::import_slot(0) - 0x101E;
  app.put_code(0x1018, {0xFF, 0x15, static_cast<std::uint8_t>(to_slot), static_cast<std::uint8_t>(to_slot >> 8), 0, 0});
  const std::uint64_t returns = kAppBase + 0x101E, leaf = kNtdllBase + 0x1090;
  DumpBuilder dump;
  dump.module(kAppBase, static_cast<std::uint32_t>(loaded(app.build()).size()), ImageBuilder::kTimestamp,
              "C:\\app\\app.exe");
  dump.module(kNtdllBase, static_cast<std::uint32_t>(loaded(ntdll_image()).size()), ImageBuilder::kTimestamp,
              "C:\\windows\\ntdll.dll");
  dump.memory(stack_of(3), stack_with({returns, kInNtdll, 0}));
  dump.thread({.id = 1, .stack = stack_of(3), .stack_bytes = 24, .registers = DumpBuilder::at(leaf, stack_of(3))});
  folder_files_.files["/symbols/app.exe"] = app.build();
  folder_files_.files["/symbols/ntdll.dll"] = ntdll_image();
  const Stack stack = walk(dump).threads[0].stack;
  EXPECT_THAT(frames(stack), ElementsAre("native 180001090", "native 14000101e", "native 180001020"));
  EXPECT_EQ(stack.frames[1].trust, Trust::leaf);
  EXPECT_TRUE(stack.whole());
}

// ntdll.dll with the dispatcher of exceptions at 0x1000. Its unwind data says that the frame has only a return address.
std::vector<std::byte> dispatching_image() {
  ImageBuilder ntdll;
  ntdll.function(0x1000, 0x1080).function(0x1080, 0x10A0);
  ntdll.export_name("KiUserExceptionDispatcher", 0x1000).export_name("RtlUserThreadStart", 0x1080);
  ntdll.put_code(0x109C, {0xFF, 0xD0});
  return ntdll.build();
}

// A CONTEXT as the system makes it: it has the size, the flags, and Rip, Rsp and code segment at the offsets of
// winnt.h.
std::vector<std::uint64_t> context_words(std::uint64_t rip, std::uint64_t rsp) {
  std::vector<std::uint64_t> words(0x4D0 / 8);
  words[0x30 / 8] = 0x10'000F;
  words[0x38 / 8] = 0x33;
  words[0x98 / 8] = rsp;
  words[0xF8 / 8] = rip;
  return words;
}

TEST_F(OutsideWalkTest, ThreadThatStandsAtTheFirstInstructionOfTheDispatcherOfExceptions) {
  const std::uint64_t dispatcher = kNtdllBase + 0x1000, root = kNtdllBase + 0x109E;
  const auto stand = [&](std::vector<std::uint64_t> words) {
    DumpBuilder dump;
    const auto app = loaded(app_image()), ntdll = loaded(dispatching_image());
    dump.module(kAppBase, static_cast<std::uint32_t>(app.size()), ImageBuilder::kTimestamp, "C:\\app\\app.exe");
    dump.module(kNtdllBase, static_cast<std::uint32_t>(ntdll.size()), ImageBuilder::kTimestamp,
                "C:\\windows\\ntdll.dll");
    dump.memory(kAppBase, app).memory(kNtdllBase, ntdll);
    const std::uint64_t at = stack_of(words.size());
    dump.memory(at, stack_with(words));
    dump.thread({.id = 1, .stack = at, .stack_bytes = static_cast<std::uint32_t>(8 * words.size()),
                 .registers = DumpBuilder::at(dispatcher, at)});
    return walk(dump).threads[0].stack;
  };
  std::vector<std::uint64_t> words = context_words(kAppBase + 0x1000, stack_of(2));
  words.insert(words.end(), {0, 0, root, 0});
  const Stack stack = stand(words);
  EXPECT_THAT(frames(stack), ElementsAre("native 180001000", "native 140001000", "native 18000109e"));
  EXPECT_TRUE(stack.whole());
  ASSERT_THAT(stack.frames, SizeIs(3));
  // There was no call: the interrupted instruction is the first one of its function.
  EXPECT_EQ(stack.frames[1].address_kind, AddressKind::instruction_pointer);
  // Words that are not a CONTEXT of user code, or that lead off the stack, are not accepted.
  std::vector<std::uint64_t> other = words;
  other[0x38 / 8] = 0x10;
  EXPECT_NE(frames(stand(other)), frames(stack));
  other = words;
  other[0x98 / 8] = 0x99'0000;
  EXPECT_NE(frames(stand(other)), frames(stack));
}

TEST_F(OutsideWalkTest, AThreadWithoutRegistersIsSkippedAndOneOnAnotherStackHasOneFrame) {
  DumpBuilder dump = two_frames();
  dump.thread({.id = 2, .stack = stack_of(4), .stack_bytes = 32});
  dump.thread({.id = 3, .stack = stack_of(4), .stack_bytes = 32, .registers = DumpBuilder::at(kInApp, 0x99'0000)});
  const Snapshot snapshot = walk(dump);
  ASSERT_THAT(snapshot.threads, SizeIs(3));
  EXPECT_EQ(snapshot.threads[0].os_id, 2u);
  EXPECT_EQ(snapshot.threads[0].skipped, "it has ended, or its registers are not known");
  EXPECT_THAT(frames(snapshot.threads[1].stack), ElementsAre("native 140001020", "gap"));
  EXPECT_EQ(snapshot.threads[1].stack.runs()[0].why, OpenReason::off_stack);
}

TEST_F(OutsideWalkTest, OnlyTheWantedThreadsAreWalked) {
  DumpBuilder dump = two_frames();
  dump.thread({.id = 2, .name = "Grace"});
  wanted_ = [](const TargetThread& thread) { return thread.name == "Ada"; };
  EXPECT_THAT(walk(dump).threads, SizeIs(1));
}

TEST_F(OutsideWalkTest, BeyondTheLimitsThreadsAreSkipped) {
  DumpBuilder dump = two_frames();
  dump.thread({.id = 2, .stack = stack_of(4), .stack_bytes = 32, .registers = DumpBuilder::at(kInApp, stack_of(4))});
  const Snapshot snapshot = walk(dump, {.frames = 2});
  ASSERT_THAT(snapshot.threads, SizeIs(2));
  EXPECT_NE(snapshot.threads[0].skipped.empty(), snapshot.threads[1].skipped.empty());
}

// Wine 8's unwind data presents the interrupted code as the caller of KiUserApcDispatcher. A system call's stub has no
// unwind data, so a return address cannot lie in it.
TEST_F(OutsideWalkTest, AProcedureCallInterruptsALeaf) {
  ImageBuilder ntdll;
  ntdll.function(0x1000, 0x1080).function(0x1080, 0x10A0);
  ntdll.export_name("KiUserApcDispatcher", 0x1000).export_name("RtlUserThreadStart", 0x1080);
  ntdll.put_code(0x1010, {0xFF, 0xD0});  // the dispatcher calls the procedure
  ntdll.put_code(0x109C, {0xE8, 0x1F, 0, 0, 0});  // calls the stub
  const std::uint64_t procedure = kNtdllBase + 0x1012, stub = kNtdllBase + 0x10C8, root = kNtdllBase + 0x10A1;
  ntdll.function(0x10A0, 0x10A8);
  DumpBuilder dump;
  const auto app = loaded(app_image()), image = loaded(ntdll.build());
  dump.module(kAppBase, static_cast<std::uint32_t>(app.size()), ImageBuilder::kTimestamp, "C:\\app\\app.exe");
  dump.module(kNtdllBase, static_cast<std::uint32_t>(image.size()), ImageBuilder::kTimestamp, "C:\\windows\\ntdll.dll");
  dump.memory(kAppBase, app).memory(kNtdllBase, image);
  const std::vector<std::uint64_t> words = {procedure, stub, root, 0};
  const std::uint64_t at = stack_of(words.size());
  dump.memory(at, stack_with(words));
  dump.thread({.id = 1, .stack = at, .stack_bytes = static_cast<std::uint32_t>(8 * words.size()),
               .registers = DumpBuilder::at(kAppBase + 0x1000, at)});
  const Stack stack = walk(dump).threads[0].stack;
  ASSERT_THAT(stack.frames, SizeIs(4));
  EXPECT_EQ(stack.frames[2].address, stub);
  EXPECT_EQ(stack.frames[2].address_kind, AddressKind::instruction_pointer);
  EXPECT_TRUE(stack.whole());
}

// A DLL that the loader's list lacks. The system says that an image is mapped there.
TEST_F(OutsideWalkTest, CodeOfAnImageInNoListIsUnwoundByItsOwnData) {
  constexpr std::uint64_t kHidden = 0x1'7000'0000;
  constexpr std::uint32_t kImage = 0x100'0000, kPrivate = 0x2'0000;  // MEM_IMAGE, MEM_PRIVATE
  const std::uint64_t root = kNtdllBase + 0x1020;
  const auto stand = [&](std::uint32_t type) {
    ImageBuilder hidden;
    hidden.put_code(0x100E, {0xFF, 0xD0});
    hidden.function(0x1000, 0x1080);
    const auto app = loaded(app_image()), ntdll = loaded(ntdll_image()), image = loaded(hidden.build());
    DumpBuilder dump;
    dump.module(kAppBase, static_cast<std::uint32_t>(app.size()), ImageBuilder::kTimestamp, "C:\\app\\app.exe");
    dump.module(kNtdllBase, static_cast<std::uint32_t>(ntdll.size()), ImageBuilder::kTimestamp,
                "C:\\windows\\ntdll.dll");
    dump.module(0x1'9000'0000, 0x1000, 1, "C:\\net\\coreclr.dll");
    dump.memory(kAppBase, app).memory(kNtdllBase, ntdll).memory(kHidden, image);
    dump.region(kHidden, image.size(), 0x1000, 0x20, type);
    const std::vector<std::uint64_t> words = {kHidden + 0x1010, root, 0};
    const std::uint64_t at = stack_of(words.size());
    dump.memory(at, stack_with(words));
    dump.thread({.id = 1, .stack = at, .stack_bytes = static_cast<std::uint32_t>(8 * words.size()),
                 .registers = DumpBuilder::at(kAppBase + 0x1000, at)});
    return walk(dump).threads[0].stack;
  };
  const Stack stack = stand(kImage);
  EXPECT_THAT(frames(stack), ElementsAre("native 140001000", "native 170001010", "native 180001020"));
  EXPECT_TRUE(stack.whole());
  EXPECT_THAT(frames(stand(kPrivate)), ElementsAre("native 140001000", "native 170001010", "gap"))
      << "code of the runtime that nothing is known about";
}

// The handler that wrote the dump is below the exception's place on the stack, and is not shown.
TEST_F(OutsideWalkTest, ACrashedThreadIsWalkedFromItsException) {
  DumpBuilder dump = standing_at(kInNtdll, {kInNtdll, 0, 0, 0, 0});
  dump.exception(1, 0xC0000005, kInApp + 2, DumpBuilder::at(kInApp + 2, stack_of(5)), {1, 0});
  const Snapshot snapshot = walk(dump);
  ASSERT_TRUE(snapshot.crash);
  EXPECT_EQ(snapshot.crash->address, kInApp + 2);
  ASSERT_THAT(snapshot.threads, SizeIs(1));
  EXPECT_EQ(snapshot.threads[0].stack.frames.front().address, kInApp + 2);
  EXPECT_TRUE(snapshot.threads[0].stack.whole());
}

TEST_F(OutsideWalkTest, AReturnIntoAnUnloadedImageIsShown) {
  DumpBuilder dump = standing_at(kInApp, {0x30'1234, kInApp, kInNtdll, 0});
  EXPECT_THAT(frames(walk(dump).threads[0].stack), ElementsAre("native 140001020", "gap"));
  dump.unloaded(0x30'0000, 0x1'0000, 5, "C:\\app\\gone.dll");
  const Stack stack = walk(dump).threads[0].stack;
  EXPECT_EQ(stack.frames.at(1).name, "<unloaded gone.dll>+0x1234");
  EXPECT_FALSE(stack.whole());
}

// Without memory at the address, nothing but the exception says that no instruction was executed there.
TEST_F(OutsideWalkTest, TheCallerOfCodeThatIsNotThereIsCertain) {
  const auto trust_after = [&](std::uint64_t access) {
    DumpBuilder dump = standing_at(0x30'1234, {kInApp, kJitted + 0x1000, 0}, true);
    dump.exception(1, 0xC0000005, 0x30'1234, DumpBuilder::at(0x30'1234, stack_of(3)), {access, 0x30'1234});
    return frames(walk(dump).threads[0].stack);
  };
  EXPECT_EQ(trust_after(8), (std::vector<std::string>{"native 301234", "native 140001020", "gap"}));
  EXPECT_EQ(trust_after(1), (std::vector<std::string>{"native 301234", "gap"}));
}

TEST_F(OutsideWalkTest, ACallIntoAnUnloadedImageHasTheImagesName) {
  DumpBuilder dump = standing_at(0x30'1234, {kInApp, kInNtdll, 0});
  dump.unloaded(0x30'0000, 0x1'0000, 5, "C:\\app\\gone.dll");
  const Snapshot snapshot = walk(dump);
  EXPECT_EQ(snapshot.threads[0].stack.frames.front().name, "<unloaded gone.dll>+0x1234");
  EXPECT_THAT(frames(snapshot.threads[0].stack), ElementsAre("native 301234", "native 140001020", "native 180001020"));
}

TEST_F(OutsideWalkTest, TheNameOfAnUnloadedImageIsCutAtTheLengthOfFileNames) {
  DumpBuilder dump = standing_at(0x30'1234, {kInApp, kInNtdll, 0});
  dump.unloaded(0x30'0000, 0x1'0000, 5, "C:\\app\\" + std::string(30'000, 'g'));
  EXPECT_EQ(walk(dump).threads[0].stack.frames.front().name, "<unloaded " + std::string(1024, 'g') + ">+0x1234");
}

}  // namespace
}  // namespace mixwalk
