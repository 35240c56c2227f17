// Tests mixwalk record --on: the stacks of exceptions, allocations and loads whose number and place are known.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/end_to_end/recorded_file.h"
#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "walker/session/recording_collector.h"
#include "walker/shown/recording_filter.h"

namespace mixwalk {
namespace {

// The samples of one type or module.
struct OfType {
  std::uint64_t samples = 0, value = 0;
  std::vector<std::string> frames;  // of one of the samples, leaf first
};

class Events : public ::testing::Test {
 protected:
  Events() : file_(temporary_file("events.mixwalk")) {}
  ~Events() override { remove_file(file_); }

  // Records events.exe, which is told to begin once the recording runs.
  void record(const std::vector<std::string>& program, std::vector<std::string> options) {
    remove_file(file_);
    ChildProcess events(program);
    ASSERT_EQ(events.read_line().value_or("(closed)"), "READY");
    options.insert(options.begin(), {mixwalk_exe(), "record", "-p", std::to_string(events.id()),
                                     "-o", file_, "-v"});
    ChildProcess recorder(options);
    // The file begins when the runtime reports events, so nothing that is thrown afterwards is missing.
    const ULONGLONG end = GetTickCount64() + 30'000;
    while (bytes_of(file_).size() < 100 && GetTickCount64() < end) Sleep(50);
    events.write_line("GO");
    EXPECT_TRUE(events.read_line().value_or("").starts_with("DONE"));
    Sleep(1'000);  // losses at the program's end are the subject of OfAStartedProgramToItsEnd
    events.close_input();
    EXPECT_EQ(events.wait(30'000), 0u);
    EXPECT_EQ(recorder.wait(60'000), 0u);
    take(read_whole(file_));
  }

  ProgramResult start(std::vector<std::string> options, const std::vector<std::string>& program) {
    options.insert(options.begin(), {mixwalk_exe(), "record", "-o", file_});
    options.push_back("--");
    options.insert(options.end(), program.begin(), program.end());
    const ProgramResult result = run_program(options, 120'000);
    if (result.exit_code == 0) take(read_whole(file_));
    return result;
  }

  void take(Recording recording) {
    recording_ = std::move(recording);
    types_.clear();
    whole_ = 0;
    for (const Recording::Sample& sample : recording_.samples) {
      ASSERT_NE(sample.detail, Recording::kNone);
      OfType& of = types_[recording_.details[sample.detail]];
      ++of.samples;
      of.value += sample.value;
      of.frames = frame_names(recording_, sample);
      EXPECT_FALSE(passes_mixwalk(sample)) << ::testing::PrintToString(of.frames);
      whole_ += is_whole(recording_, sample);
    }
  }

  // The thread walks itself; the frames of that walk must not be part of its stack.
  bool passes_mixwalk(const Recording::Sample& sample) const {
    return std::ranges::any_of(stack_frames(recording_, sample.stack), [&](std::uint32_t index) {
      const std::int32_t module = recording_.frames[index].module;
      return module != Frame::kNone &&
             recording_.modules[static_cast<std::size_t>(module)].path.ends_with("mixwalk.dll");
    });
  }

  // The chain that events.exe makes, below `top`, leaf first: managed, stub and native frames.
  static auto below(const std::string& top) {
    using ::testing::StartsWith;
    return std::vector<::testing::Matcher<std::string>>{
        top, StartsWith("IL_STUB_ReversePInvoke"), "ladder_native_saved", "ladder_native_through",
        StartsWith("IL_STUB_PInvoke"), "Events.Program.Down(System.Int32, System.Int32)",
        "Events.Program.Work(System.Int32, System.Int32)"};
  }

  // Compares the frames from the first one with that name on.
  static void expect_chain(const std::vector<std::string>& frames, const std::string& top) {
    const auto matchers = below(top);
    const auto from = std::ranges::find(frames, top);
    ASSERT_GE(frames.end() - from, static_cast<std::ptrdiff_t>(matchers.size()))
        << ::testing::PrintToString(frames);
    const std::vector<std::string> part(from, from + static_cast<std::ptrdiff_t>(matchers.size()));
    EXPECT_THAT(part, ::testing::ElementsAreArray(matchers));
  }

  std::string file_;
  Recording recording_;
  std::map<std::string, OfType> types_;
  std::uint64_t whole_ = 0;
};

const std::string kTakeOrder = "Events.Program.TakeOrder(System.Int32)";

TEST_F(Events, EveryExceptionWithItsStack) {
  record({fixture("events.exe"), "--rounds", "50", "--threads", "4"}, {"--on", "exception"});
  EXPECT_EQ(recording_.event, SampleEvent::exception);
  EXPECT_EQ(recording_.period_ns, 0u);
  EXPECT_EQ(recording_.dropped, 0u);
  EXPECT_EQ(types_["Events.OrderException"].samples, 200u);
  EXPECT_EQ(types_["Events.OrderException"].value, 200u);
  EXPECT_EQ(types_["System.InvalidOperationException"].samples, 200u);
  EXPECT_EQ(whole_, recording_.samples.size());
  expect_chain(types_["Events.OrderException"].frames, kTakeOrder);
  expect_chain(types_["System.InvalidOperationException"].frames, kTakeOrder);
  EXPECT_THAT(types_["Events.OrderException"].frames,
              ::testing::Contains("Events.Program.Refuse(System.Int32)"));
  std::map<std::string, int> threads;
  for (const auto& sample : recording_.samples) ++threads[recording_.threads[sample.thread].name];
  for (const char* name : {"orders 0", "orders 1", "orders 2", "orders 3"}) {
    EXPECT_EQ(threads[name], 100) << name;
  }
}

// Whatever code threw, its stack begins at that code. From there on, the whole stack has the same frames.
TEST_F(Events, StacksBeginAtTheFrameThatThrew) {
  record({fixture("events.exe"), "--throws"}, {"--on", "exception"});
  const Recording shown = filtered(recording_, {});
  ASSERT_EQ(shown.samples.size(), 16u);
  std::vector<std::string> first;
  for (std::size_t i = 0; i < shown.samples.size(); ++i) {
    const auto whole = frame_names(recording_, recording_.samples[i]);
    const auto left = frame_names(shown, shown.samples[i]);
    ASSERT_FALSE(left.empty());
    EXPECT_GT(whole.size(), left.size() + 5) << left.front();
    EXPECT_TRUE(std::equal(left.rbegin(), left.rend(), whole.rbegin())) << left.front();
    // Methods of the library throw on behalf of the program's methods.
    const auto own = std::ranges::find_if(
        left, [](const std::string& name) { return name.starts_with("Events."); });
    ASSERT_NE(own, left.end());
    EXPECT_LE(own - left.begin(), 2) << ::testing::PrintToString(left);
    first.push_back(own->substr(own->rfind('.', own->find('(')) + 1));
  }
  EXPECT_THAT(first, ::testing::ElementsAre(
      "ThrowOwn()", "ThrowFirst()", "CatchAndThrowAgain()", "ThrowRemembered()", "ThrowNull()",
      "ThrowDivided()", "ThrowIndex()", "ThrowCast()", "ThrowByHelper()", "ThrowByLibrary()",
      "ThrowMissing()", "ThrowInFilter()", "Filter()", "ThrowInFinally()", "ThrowSecond()",
      "ThrowBelowNative(System.Int32)"));
}

TEST_F(Events, OnlyExceptionsOfTheTypeThatWasAskedFor) {
  record({fixture("events.exe"), "--rounds", "20"}, {"--on", "exception=InvalidOperationException"});
  ASSERT_EQ(types_.size(), 1u);
  EXPECT_EQ(types_["System.InvalidOperationException"].samples, 20u);
}

TEST_F(Events, TheCopyEngineSeesTheSameChain) {
  record({fixture("events.exe"), "--rounds", "20"},
         {"--on", "exception=Events.OrderException", "--engine", "copy"});
  EXPECT_EQ(types_["Events.OrderException"].samples, 20u);
  EXPECT_EQ(whole_, 20u);
  expect_chain(types_["Events.OrderException"].frames, kTakeOrder);
}

// The stack is deeper than every buffer.
TEST_F(Events, OfADeepStack) {
  record({fixture("events.exe"), "--rounds", "3", "--deep", "5000"},
         {"--on", "exception=Events.OrderException"});
  EXPECT_EQ(types_["Events.OrderException"].samples, 3u);
  EXPECT_EQ(whole_, 3u);
  const auto& frames = types_["Events.OrderException"].frames;
  EXPECT_EQ(std::ranges::count(frames, "Events.Program.Down(System.Int32, System.Int32)"), 5001);
}

// The last exceptions of a program that ends at once are either recorded or counted as lost.
TEST_F(Events, OfAStartedProgramToItsEnd) {
  // The program's end waits a quarter of a second until its events are sent. On a busy machine none may be sent in that
  // time, but this does not happen every time.
  constexpr int kTimes = 10;
  std::uint64_t samples = 0;
  for (int i = 0; i < kTimes && samples == 0; ++i) {
    const ProgramResult result = start({"--on", "exception=Events.OrderException"},
                                       {fixture("events.exe"), "--now", "--rounds", "50"});
    ASSERT_EQ(result.exit_code, 0u) << result.err;
    samples = types_["Events.OrderException"].samples;
    EXPECT_EQ(samples + recording_.dropped, 50u) << result.err;
  }
  EXPECT_GT(samples, 0u);
}

TEST_F(Events, WhatAKilledProgramTakesWithItIsCounted) {
  const ProgramResult result = start({"--on", "exception=Events.OrderException"},
                                     {fixture("events.exe"), "--now", "--kill", "--rounds", "50"});
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_EQ(types_["Events.OrderException"].samples + recording_.dropped, 50u) << result.err;
}

TEST_F(Events, EveryTenthAllocationOfAType) {
  const ProgramResult result =
      start({"--on", "allocation=Events.Order", "--every", "10"},
            {fixture("events.exe"), "--now", "--rounds", "500", "--threads", "4"});
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_EQ(recording_.event, SampleEvent::allocation);
  ASSERT_EQ(types_.size(), 1u);
  EXPECT_EQ(types_["Events.Order"].samples + recording_.dropped, 200u);
  EXPECT_EQ(types_["Events.Order"].value, types_["Events.Order"].samples * 10);
  EXPECT_EQ(whole_, recording_.samples.size());
  ASSERT_THAT(types_["Events.Order"].frames,
              ::testing::Contains("Events.Program.Place(System.Int32)"));
  expect_chain(types_["Events.Order"].frames, kTakeOrder);
}

TEST_F(Events, AllocationsOfAllTypes) {
  const ProgramResult result = start({"--on", "allocation", "--every", "1"},
                                     {fixture("events.exe"), "--now", "--rounds", "20"});
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_TRUE(types_.contains("System.String"));
  EXPECT_TRUE(types_.contains("System.Char[]")) << "arrays have names as well";
  EXPECT_GT(recording_.samples.size(), 100u);
}

// For Loads.cs: one method of events.exe loads each type or module. Take calls these methods below the native frames.
class Loads : public Events {
 protected:
  static constexpr std::uint64_t kRounds = 20;

  static std::vector<std::string> program(std::vector<std::string> options = {}) {
    options.insert(options.begin(),
                   {fixture("events.exe"), "--loads", "--rounds", std::to_string(kRounds)});
    return options;
  }

  // `loader` must be the first of the program's own methods, and its callers must be the known ones.
  void expect_loaded_by(const std::string& what, const std::string& loader,
                        const std::string& argument = "()") {
    SCOPED_TRACE(what);
    const auto& frames = types_[what].frames;
    const auto own = std::ranges::find_if(
        frames, [](const std::string& name) { return name.starts_with("Events."); });
    ASSERT_NE(own, frames.end()) << ::testing::PrintToString(frames);
    EXPECT_EQ(*own, "Events.Loads." + loader + argument) << ::testing::PrintToString(frames);
    if (*own != kTakeLoads) {
      ASSERT_NE(own + 1, frames.end());
      EXPECT_EQ(own[1], kTakeLoads) << ::testing::PrintToString(frames);
    }
    expect_chain(frames, kTakeLoads);
  }

  std::uint64_t samples_of(const std::string& what) { return types_[what].samples; }
  // Returns the number of samples of everything whose name begins with this text.
  std::uint64_t samples_from(const std::string& begin) const {
    std::uint64_t samples = 0;
    for (const auto& [what, of] : types_) samples += what.starts_with(begin) ? of.samples : 0;
    return samples;
  }

  void expect_types() {
    EXPECT_EQ(recording_.event, SampleEvent::class_load);
    EXPECT_EQ(recording_.dropped, 0u);
    EXPECT_EQ(whole_, recording_.samples.size());
    // There is one type for each rank, and one that has their code.
    EXPECT_EQ(samples_from("Events.Holder<"), kRounds + 1);
    EXPECT_EQ(samples_of("Events.Holder<Events.LoadedByCode[,]>"), 1u);
    EXPECT_EQ(samples_of("Events.Holder<System.__Canon>"), 1u);
    expect_loaded_by("Events.Holder<Events.LoadedByCode[,]>", "LoadGeneric", "(System.Int32)");
    EXPECT_EQ(samples_from("Events.Dynamic"), kRounds) << "types of dynamic modules";
    expect_loaded_by("Events.Dynamic7", "LoadDynamic", "(System.Int32)");
    EXPECT_EQ(samples_of("Events.LoadedByName"), 1u);
    expect_loaded_by("Events.LoadedByName", "LoadNamed");
    EXPECT_EQ(samples_of("Events.Unloadable"), 0u) << "it was not loaded";
  }

  void expect_modules() {
    EXPECT_EQ(recording_.event, SampleEvent::module_load);
    EXPECT_EQ(recording_.dropped, 0u);
    EXPECT_EQ(whole_, recording_.samples.size());
    // Managed modules: one with a file, and one without.
    EXPECT_EQ(samples_of("hang.dll"), kRounds) << "told by the runtime, and not by the loader again";
    expect_loaded_by("hang.dll", "LoadAssembly");
    EXPECT_EQ(samples_of("locks.dll"), 1u) << "by the name in its metadata";
    expect_loaded_by("locks.dll", "LoadBytes");
    const std::string dynamic = "RefEmit_InMemoryManifestModule";
    EXPECT_EQ(samples_of(dynamic), kRounds) << "what the runtime calls a dynamic module";
    expect_loaded_by(dynamic, "LoadDynamic", "(System.Int32)");
    // A native module: a P/Invoke loads it again and again, with the images that it needs, on a thread without .NET.
    EXPECT_EQ(samples_of("hunt_turn_a.dll"), kRounds);
    expect_loaded_by("hunt_turn_a.dll", "LoadNative");
    EXPECT_EQ(samples_of("ladder_native_O0.dll"), 1u);
    expect_loaded_by("ladder_native_O0.dll", "LoadByPInvoke", "(System.Int32)");
    EXPECT_EQ(samples_of("foreign_threads.dll"), 1u);
    EXPECT_EQ(samples_of("hunt_slow_end.dll"), 1u);
    expect_loaded_by("foreign_threads.dll", "LoadDependent");
    expect_loaded_by("hunt_slow_end.dll", "LoadDependent");
    EXPECT_EQ(samples_of("hunt_small.dll"), 1u);
    EXPECT_THAT(types_["hunt_small.dll"].frames,
                ::testing::Each(::testing::Not(::testing::StartsWith("Events."))));
    // LoadLibraryW may jump to LoadLibraryExW (Wine 10), and then has no frame.
    EXPECT_THAT(types_["hunt_small.dll"].frames, ::testing::Contains(::testing::StartsWith("LoadLibrary")));
    for (const auto& sample : recording_.samples) {
      const std::string& name = recording_.threads[sample.thread].name;
      if (recording_.details[sample.detail] == "hunt_turn_a.dll") {
        EXPECT_EQ(name, "orders 0");
      }
    }
  }

  static const std::string kTakeLoads;
};

const std::string Loads::kTakeLoads = "Events.Loads.Take(System.Int32)";

TEST_F(Loads, EveryTypeWithItsStack) {
  record(program(), {"--on", "class-load"});
  expect_types();
  // The runtime compiles a method when it is first called.
  EXPECT_EQ(samples_of("Events.LoadedByCode"), 1u);
}

TEST_F(Loads, TypesByTheCopyEngine) {
  record(program(), {"--on", "class-load", "--engine", "copy"});
  expect_types();
}

TEST_F(Loads, OnlyTypesThatWereAskedFor) {
  record(program(), {"--on", "class-load=Holder"});
  EXPECT_EQ(samples_from("Events.Holder<"), kRounds + 1);
  EXPECT_EQ(recording_.samples.size(), kRounds + 1);
}

TEST_F(Loads, TypesOfAStartedProgram) {
  const ProgramResult result = start({"--on", "class-load=Events.LoadedByName"},
                                     program({"--now"}));
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_EQ(recording_.samples.size() + recording_.dropped, 1u) << result.err;
  expect_loaded_by("Events.LoadedByName", "LoadNamed");
}

TEST_F(Loads, EveryModuleWithItsStack) {
  record(program(), {"--on", "module-load"});
  expect_modules();
}

TEST_F(Loads, ModulesByTheCopyEngine) {
  record(program(), {"--on", "module-load", "--engine", "copy"});
  expect_modules();
}

TEST_F(Loads, OnlyTheModuleThatWasAskedFor) {
  for (const char* const name : {"HUNT_turn_a", "hunt_turn_A.DLL"}) {
    record(program(), {"--on", std::string("module-load=") + name});
    EXPECT_EQ(samples_of("hunt_turn_a.dll"), kRounds) << name;
    EXPECT_EQ(recording_.samples.size(), kRounds) << name;
  }
  record(program(), {"--on", "module-load=Hang"});
  EXPECT_EQ(recording_.dropped, 0u);
  EXPECT_EQ(samples_of("hang.dll"), kRounds);
  EXPECT_EQ(recording_.samples.size(), kRounds);
}

TEST_F(Loads, ModulesOfAStartedProgram) {
  const ProgramResult result = start({"--on", "module-load"}, program({"--now"}));
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_EQ(samples_of("hang.dll") + samples_of("hunt_turn_a.dll") + recording_.dropped,
            2 * kRounds)
      << result.err;
  expect_loaded_by("hunt_turn_a.dll", "LoadNative");
  // The modules that the runtime itself loads first are among the samples. Each module has one sample, whether the
  // runtime or the loader reports the load.
  EXPECT_EQ(samples_of("events.dll"), 1u);
  for (const auto& [what, of] : types_) {
    const bool again = what == "hang.dll" || what == "hunt_turn_a.dll" || what.starts_with("RefEmit");
    EXPECT_TRUE(again || of.samples == 1) << what << ": " << of.samples;
  }
}

// Each image is unloaded directly after it was loaded. A sample with wrong names would be worse than no sample.
TEST_F(Loads, OfAssembliesThatAreUnloaded) {
  record(program({"--let-go"}), {"--on", "module-load=hang"});
  EXPECT_EQ(samples_of("hang.dll") + recording_.dropped, kRounds);
  if (samples_of("hang.dll") > 0) expect_loaded_by("hang.dll", "LoadAssembly");
  record(program({"--let-go"}), {"--on", "class-load"});
  EXPECT_GT(recording_.samples.size() + recording_.dropped, 3 * kRounds);
  EXPECT_EQ(whole_, recording_.samples.size());
}

TEST_F(Loads, WhatAKilledProgramTakesWithItIsCounted) {
  const ProgramResult result =
      start({"--on", "module-load=hunt_turn_a"}, program({"--now", "--kill"}));
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_EQ(samples_of("hunt_turn_a.dll") + recording_.dropped, kRounds) << result.err;
}

// The reader does not read. The target must continue, and every event must become a sample or be counted as dropped.
TEST(EventsSession, SlowReaderLosesEventsThatAreCounted) {
  constexpr int kThrown = 40'000;
  ChildProcess events({fixture("events.exe"), "--rounds", std::to_string(kThrown / 4), "--threads",
                       "4", "--deep", "40"});
  ASSERT_EQ(events.read_line().value_or("(closed)"), "READY");
  TargetSession session = attach_to(events.id());
  ASSERT_FALSE(session.begin_record({.event = SampleEvent::exception,
                                     .type = "Events.OrderException"}));
  RecordingCollector collector([](Frame frame, const Module&) { return std::vector{std::move(frame)}; });
  RecordedBytes bytes;
  // The first bytes come once the callbacks are active.
  auto first = session.next(30'000, bytes);
  ASSERT_TRUE(first && *first == TargetSession::Next::bytes);
  ASSERT_EQ(collector.add(bytes.bytes, bytes.new_file), "");
  events.write_line("GO");
  // Nobody reads, and the program must still come to its end.
  EXPECT_EQ(events.read_line().value_or("(closed)"), "DONE " + std::to_string(kThrown));
  session.stop_record();
  while (true) {
    auto next = session.next(100, bytes);
    ASSERT_TRUE(next) << next.failure().message;
    if (*next == TargetSession::Next::done) break;
    if (*next == TargetSession::Next::bytes) {
      ASSERT_EQ(collector.add(bytes.bytes, bytes.new_file), "");
    }
  }
  EXPECT_EQ(session.leave(), "");
  events.close_input();
  EXPECT_EQ(events.wait(30'000), 0u);
  const Recording& recording = collector.recording();
  EXPECT_GT(recording.dropped, 0u) << "more slowly, and this shows nothing";
  EXPECT_EQ(recording.samples.size() + recording.dropped, static_cast<std::size_t>(kThrown));
  std::printf("%zu events sampled, %llu dropped\n", recording.samples.size(), recording.dropped);
}

// The runtime reports allocations only if that was requested when it started, so mixwalk must refuse, not stay silent.
TEST(EventsSession, AllocationsOfAProgramThatRunsAreRefused) {
  ChildProcess events({fixture("events.exe")});
  ASSERT_EQ(events.read_line().value_or("(closed)"), "READY");
  TargetSession session = attach_to(events.id());
  ASSERT_FALSE(session.begin_record({.event = SampleEvent::allocation}));
  RecordedBytes bytes;
  auto next = session.next(20'000, bytes);
  while (next && *next == TargetSession::Next::bytes) next = session.next(20'000, bytes);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.failure().code, ExitCode::refused);
  events.close_input();
  EXPECT_EQ(events.wait(30'000), 0u);
}

}  // namespace
}  // namespace mixwalk
