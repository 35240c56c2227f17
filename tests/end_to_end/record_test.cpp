// Runs mixwalk record on programs whose threads are known.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "tests/end_to_end/hang_suite.h"
#include "tests/end_to_end/recorded_file.h"
#include "tests/end_to_end/session.h"
#include "tests/support/repository_files.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/freeze_trap_page.h"
#include "walker/export/firefox_profile.h"
#include "walker/session/recording_collector.h"
#include "walker/store/recording_reader.h"

namespace mixwalk {
namespace {

struct Followed {
  std::size_t samples = 0, whole = 0;
  std::uint64_t value = 0;
  std::uint64_t last_ns = 0;  // when the last sample was taken
  std::vector<std::string> frames;  // of the thread's last sample, leaf first
};

std::map<std::string, Followed> by_thread(const Recording& recording) {
  std::map<std::string, Followed> threads;
  for (const Recording::Sample& sample : recording.samples) {
    Followed& followed = threads[recording.threads[sample.thread].name];
    ++followed.samples;
    followed.value += sample.value;
    followed.last_ns = sample.time_ns;
    followed.frames = frame_names(recording, sample);
    followed.whole += is_whole(recording, sample);
  }
  return threads;
}

// Records hang.exe.
class Record : public HangSuite {
 protected:
  Record() : file_(temporary_file("record.mixwalk")) {}
  ~Record() override { remove_file(file_); }

  // The visitor before this one may not have left yet.
  ProgramResult record(std::vector<std::string> options, const ChildProcess& program = *hang_) {
    options.insert(options.begin(), {mixwalk_exe(), "record", "-p", std::to_string(program.id()), "--wait", "20s", "-o",
                                     file_});
    return run_program(options);
  }

  std::string file_;
};

TEST_F(Record, EveryThreadWithItsWholeInterleavedStack) {
  // On a busy machine, the usual deadline passes before all threads are walked, and the usual budget allows hardly a
  // sample in a second.
  const ProgramResult result = record({"-d", "2s", "-r", "50", "--deadline", "2s", "--budget", "0"});
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  const Recording recording = read_whole(file_);
  EXPECT_EQ(recording.event, SampleEvent::wall);
  EXPECT_EQ(recording.period_ns, 20'000'000u);
  EXPECT_EQ(recording.process.id, hang_->id());
  EXPECT_GT(recording.duration_ns, 1'900'000'000u);
  const auto threads = by_thread(recording);
  const Followed& waiting = threads.at("native wait");
  EXPECT_GT(waiting.samples, 5u);
  EXPECT_EQ(waiting.whole, waiting.samples);
  EXPECT_THAT(waiting.frames, ::testing::IsSupersetOf({"NtWaitForMultipleObjects", "ladder_native_park"}));
  EXPECT_TRUE(std::ranges::any_of(
      waiting.frames, [](const auto& name) { return name.starts_with("Hang.Program+"); }));
  // The values of its samples add up to the time up to the last one, whatever rate was reached.
  EXPECT_GT(waiting.last_ns, 1'000'000'000u);
  EXPECT_NEAR(static_cast<double>(waiting.value), static_cast<double>(waiting.last_ns),
              static_cast<double>(recording.period_ns));
  // Stacks are interned, so a thread that never moves has one stack.
  EXPECT_LT(recording.nodes.size(), 4000u);
}

// Returns the text of a line of a fixture's source, counted from 1. `path` is the place of the source when the fixture
// was built.
std::string line_of(const std::string& path, std::uint32_t number) {
  std::ifstream in(utf8_path(repository_file(path.substr(std::min(path.size(), path.rfind("fixtures"))))));
  std::string line;
  for (std::uint32_t i = 0; i < number && std::getline(in, line); ++i) {
  }
  EXPECT_TRUE(in) << path << " has no line " << number;
  return line;
}

TEST_F(Record, ManagedFramesHaveTheirLinesInTheFileAndInExports) {
  ASSERT_EQ(record({"-d", "1s", "-r", "20"}).exit_code, 0u);
  const Recording recording = read_whole(file_);
  const std::map<std::string, std::string> calls = {
      {"Hang.Program.Main(System.String[])", "Console.ReadLine()"},
      {"Hang.Program.Deadlock(System.Object, System.Object)", "lock (other)"},
      {"Hang.Program+<>c__DisplayClass13_0.<Start>b__0()", "action()"}};
  std::set<std::string> met;
  for (const Frame& frame : recording.frames) {
    if (frame.kind != FrameKind::managed || !frame.name.starts_with("Hang.")) continue;
    EXPECT_TRUE(frame.file.ends_with("Program.cs")) << frame.name << ": " << frame.file;
    EXPECT_NE(frame.line, 0u) << frame.name;
    EXPECT_TRUE(frame.line_approximate) << frame.name;
    if (!calls.contains(frame.name)) continue;
    EXPECT_NE(line_of(frame.file, frame.line).find(calls.at(frame.name)), std::string::npos)
        << frame.name << " in line " << frame.line;
    met.insert(frame.name);
  }
  EXPECT_EQ(met.size(), calls.size());
  StringSink firefox;
  ASSERT_TRUE(write_firefox_profile(recording, firefox));
  EXPECT_NE(firefox.text.find("Program.cs\""), std::string::npos);
  EXPECT_NE(firefox.text.find("\"Hang.Program.Deadlock(object, object)\""), std::string::npos);
}

TEST_F(Record, CpuModeTakesOnlyWhoUsesTheCpu) {
  ChildProcess hang({fixture("hang.exe"), "--spin"});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  // On a busy machine, a thread that spins stops late, and a thread that was resumed early gives no sample.
  constexpr int kTimes = 10;
  std::size_t samples = 0;
  for (int i = 0; i < kTimes && samples <= 5; ++i) {
    ASSERT_EQ(
        record({"-d", "2s", "-r", "50", "--mode", "cpu", "--deadline", "2s", "--budget", "0"}, hang).exit_code, 0u);
    const Recording recording = read_whole(file_);
    EXPECT_EQ(recording.event, SampleEvent::cpu);
    const auto threads = by_thread(recording);
    if (threads.contains("spin")) samples += threads.at("spin").samples;
    EXPECT_FALSE(threads.contains("native wait"));
    EXPECT_FALSE(threads.contains("sleep"));
  }
  EXPECT_GT(samples, 5u);
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

TEST_F(Record, OnlyTheThreadsThatWereAskedFor) {
  ASSERT_EQ(record({"-d", "1s", "--threads", "deadlock", "--threads", "sle"}).exit_code, 0u);
  std::vector<std::string> names;
  for (const auto& [name, followed] : by_thread(read_whole(file_))) names.push_back(name);
  EXPECT_THAT(names, ::testing::ElementsAre("deadlock 1", "deadlock 2", "sleep"));
}

TEST_F(Record, StraightIntoTheFormatOfAnotherTool) {
  const std::string out = temporary_file("record.collapsed");
  const ProgramResult result =
      run_program({mixwalk_exe(), "record", "-p", std::to_string(hang_->id()), "--wait", "20s", "-d", "1s", "-o", out});
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  const std::string text = bytes_of(out);
  EXPECT_NE(text.find("ladder_native.dll!ladder_native_park;kernelbase.dll!"), std::string::npos)
      << text;
  remove_file(out);
}

TEST_F(Record, KilledInMidFlightTheFileOpensAndTheTargetGoesOn) {
  {
    ChildProcess recorder(
        {mixwalk_exe(), "record", "-p", std::to_string(hang_->id()), "--wait", "20s", "-r", "50", "-o", file_});
    const ULONGLONG end = GetTickCount64() + 20'000;
    while (bytes_of(file_).size() < 2000 && GetTickCount64() < end) Sleep(50);
    Sleep(1000);
    recorder.terminate();
  }
  const ReadRecording read = read_recording(bytes_of(file_));
  ASSERT_TRUE(read.recording) << read.error;
  EXPECT_NE(read.cut.kind, Cut::Kind::none);
  EXPECT_LE(read.cut.bytes, 100'000u);
  // The file must have everything but the last chunk, which is a tenth of a second.
  EXPECT_GT(read.recording->samples.back().time_ns, 500'000'000u);
  const ProgramResult next = run_until_let_in(
      {"record", "-p", std::to_string(hang_->id()), "-d", "1s", "-o", file_});
  EXPECT_EQ(next.exit_code, 0u) << next.err;
}

// The reader does not read. The target must never wait, and samples that were not taken must be counted.
TEST_F(Record, SlowReaderLosesSamplesThatAreCounted) {
  const std::vector<std::string> kNames = {"deadlock 1", "deadlock 2", "sleep", "accept",
                                           "native wait", "com call", "task result", "deep"};
  // The pipe's buffer is small, since it fills before the ring of some 3 s of chunks does. With its usual size, 2,300
  // samples a second fill it only after 20 s.
  TargetSession session = attach_to(hang_->id(), "mixwalk.dll", 30'000, 4 << 10);
  // A busy machine may need longer than the usual deadline, and then a thread would be missing in a tick.
  ASSERT_FALSE(session.begin_record({.sampling = {.deadline_ms = 5'000},
                                     .period_ns = 1'000'000,
                                     .thread_names = kNames}));
  RecordingCollector collector([](Frame frame, const Module&) { return std::vector{std::move(frame)}; });
  RecordedBytes bytes;
  const auto read_until = [&](ULONGLONG end, bool to_the_end) {
    while (to_the_end || GetTickCount64() < end) {
      auto next = session.next(100, bytes);
      ASSERT_TRUE(next) << next.failure().message;
      if (*next == TargetSession::Next::done) return;
      if (*next != TargetSession::Next::bytes) continue;
      ASSERT_EQ(collector.add(bytes.bytes, bytes.new_file), "");
    }
  };
  read_until(GetTickCount64() + 1000, false);
  EXPECT_EQ(collector.recording().dropped, 0u) << "nothing is lost to a reader that reads";
  // On a slow or busy machine samples and chunks come more slowly, so what fits into the pipe and the ring spans a
  // longer time.
  for (DWORD pause = 5'000; pause <= 96'000 && collector.recording().dropped == 0; pause *= 2) {
    Sleep(pause);
    read_until(GetTickCount64() + 1000, false);
  }
  session.stop_record();
  read_until(0, true);
  EXPECT_EQ(session.leave(), "");

  const Recording& recording = collector.recording();
  EXPECT_GT(recording.dropped, 0u);
  // Each tick either takes or drops a sample of every thread, so both numbers are multiples of the number of threads.
  EXPECT_EQ(recording.threads.size(), kNames.size());
  EXPECT_EQ(recording.dropped % kNames.size(), 0u);
  std::map<std::uint64_t, std::size_t> ticks;
  for (const Recording::Sample& sample : recording.samples) ++ticks[sample.time_ns];
  for (const auto& [time, samples] : ticks) EXPECT_EQ(samples, kNames.size()) << time;
  std::printf("%zu samples taken, %llu dropped\n", recording.samples.size(), recording.dropped);
}

// The seconds of the recording; MIXWALK_RECORD_SECONDS=300 for more.
int seconds() { return wanted("MIXWALK_RECORD_SECONDS", 8, 5); }

// Records a program that makes new code, threads and images all the time.
TEST(RecordTorture, TheMemoryOfTheDllStaysWhereItIsAndNothingIsLost) {
  ChildProcess torture({fixture("torture.exe"), "--seconds", std::to_string(seconds() + 60)});
  ASSERT_TRUE(torture.read_line().value_or("").starts_with("READY"));
  const FreezeTrapPage page(torture.id());
  ASSERT_NE(page.get(), nullptr);
  TargetSession session = attach_to(torture.id(), "mixwalk_trapped.dll");
  ASSERT_FALSE(session.begin_record({.period_ns = 10'000'000}));
  RecordingCollector collector([](Frame frame, const Module&) { return std::vector{std::move(frame)}; });
  std::vector<std::int64_t> heap;  // once a second, after the first fifth of the time
  RecordedBytes bytes;
  std::size_t samples = 0, files = 0;
  const ULONGLONG begin = GetTickCount64(), length = static_cast<ULONGLONG>(seconds()) * 1000;
  ULONGLONG next_look = begin + length / 5;
  for (bool stopping = false;;) {
    const ULONGLONG now = GetTickCount64();
    if (now >= next_look) {
      heap.push_back(page->heap_bytes);
      next_look += 1000;
    }
    if (!stopping && now - begin >= length) {
      stopping = true;
      session.stop_record();
    }
    auto next = session.next(100, bytes);
    ASSERT_TRUE(next) << next.failure().message;
    if (*next == TargetSession::Next::done) break;
    if (*next != TargetSession::Next::bytes) continue;
    files += bytes.new_file;
    ASSERT_EQ(collector.add(bytes.bytes, bytes.new_file), "");
    samples += collector.recording().samples.size();
    collector.recording().samples.clear();
  }
  EXPECT_EQ(session.leave(), "");
  torture.write_line("STOP");
  const std::string result = torture.read_line().value_or("(closed)");
  EXPECT_TRUE(result.starts_with("OK ")) << result;
  EXPECT_EQ(torture.wait(30'000), 0u);

  const auto [low, high] = std::ranges::minmax(heap);
  std::printf("%zu samples in %zu files, %llu dropped; heap of the DLL %lld to %lld KiB\n%s\n",
              samples, files, collector.recording().dropped, low / 1024, high / 1024,
              result.c_str());
  EXPECT_EQ(collector.recording().dropped, 0u);
  EXPECT_GT(samples, static_cast<std::size_t>(seconds()) * 25);
  ASSERT_GT(low, 0) << "the DLL does not count";
  EXPECT_LE(high - low, 4 << 20) << "2 MiB to either side";
}

// mixwalk's terminal was closed, or there never was one. That is not a reason to lose a recording.
TEST_F(Record, GoesOnWhenNobodyCanReadItsProgress) {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  const UniqueHandle unwritable(CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ, &inherited,
                                            OPEN_EXISTING, 0, nullptr));
  const HANDLE err = GetStdHandle(STD_ERROR_HANDLE);
  SetStdHandle(STD_ERROR_HANDLE, unwritable.get());
  ChildProcess recorder(
      {mixwalk_exe(), "record", "-p", std::to_string(hang_->id()), "--wait", "20s", "-d", "2s", "-o", file_});
  SetStdHandle(STD_ERROR_HANDLE, err);
  EXPECT_EQ(recorder.wait(30'000), 0u);
  EXPECT_GT(read_whole(file_).samples.size(), 20u);
}

TEST(RecordProgram, ItsOwnExitEndsTheRecording) {
  const std::string file = temporary_file("program.mixwalk");
  const ProgramResult result = run_program({mixwalk_exe(), "record", "-o", file, "--",
                                            fixture("hang.exe"), "--exit-after-ms", "3000"});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  const Recording recording = read_whole(file);
  EXPECT_GT(recording.samples.size(), 20u);
  remove_file(file);
}

// The next round of samples never comes, so the first round must have been sent before mixwalk waits for the next.
TEST(RecordProgram, ItsExitBetweenTwoDistantSamplesLosesNone) {
  const std::string file = temporary_file("distant.mixwalk");
  ChildProcess hang({fixture("hang.exe"), "--exit-after-ms", "6000"});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  const ProgramResult result = run_program({mixwalk_exe(), "record", "-o", file, "-i", "30s", "-p",
                                            std::to_string(hang.id())});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_GT(read_whole(file).samples.size(), 8u) << result.err;
  remove_file(file);
}

}  // namespace
}  // namespace mixwalk
