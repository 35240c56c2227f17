#include "walker/cli/hang.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "symbols/shares.h"
#include "tests/builders/hang_samples.h"
#include "tests/builders/recordings.h"
#include "tests/builders/report_samples.h"
#include "tests/support/golden.h"
#include "tests/support/remove_tree.h"
#include "walker/base/byte_sink.h"
#include "walker/export/json.h"
#include "walker/model/series.h"
#include "walker/store/recording_reader.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

struct Result {
  ExitCode code = ExitCode::internal;
  std::string out, err;
};

class HangCommandTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { EXPECT_TRUE(remove_tree(folder_)); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string json_file(const std::string& name, const Snapshot& snapshot) const {
    StringSink sink;
    EXPECT_TRUE(write_json(snapshot, {}, sink));
    return file(name, sink.text);
  }
  // Writes each dump as JSON, and returns the command for these files.
  HangCommand command(const std::vector<Snapshot>& dumps) const {
    HangCommand command;
    for (std::size_t i = 0; i < dumps.size(); ++i) {
      command.files.push_back(json_file("dump" + std::to_string(i) + ".json", dumps[i]));
    }
    command.single = dumps.size() == 1;
    return command;
  }

  static Result run(const HangCommand& command, const std::string& minidump_of = {}) {
    const OpenDump open_dump = [&](const std::string&) -> Outcome<Snapshot> {
      if (minidump_of.empty()) return Failure{ExitCode::input, "no minidump was expected"};
      Snapshot snapshot = test::deadlocked_program().back();
      snapshot.capture = CaptureMethod::file;
      return snapshot;
    };
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Result result;
    result.code = mixwalk::run(command, false, open_dump);
    result.out = testing::internal::GetCapturedStdout();
    result.err = testing::internal::GetCapturedStderr();
    if (!result.err.empty()) {
      EXPECT_TRUE(result.err.starts_with("mixwalk: ")) << result.err;
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
    return result;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "mixwalk_hang_command_test";
};

std::string stored(const Recording& recording) {
  StringSink sink;
  RecordingWriter writer(sink);
  EXPECT_TRUE(writer.begin(recording));
  EXPECT_TRUE(writer.end(recording));
  return sink.text;
}

TEST_F(HangCommandTest, TheHangFixtureInAnAttach) {
  HangCommand command;
  command.files = {golden_file("hang-fixture.mixwalk")};
  command.single = true;
  const Result result = run(command);
  EXPECT_EQ(result.code, ExitCode::ok);
  const std::string out = result.out.substr(result.out.find("17 threads:"));
  EXPECT_EQ(out.find("unknown"), std::string::npos) << out;
  for (const char* const says :
       {"waits to enter a monitor (lock)\n          0x", "called by the P/Invoke ladder_native!ladder_native_park",
        "waits for the COM call Ladder.ILadder.Park(nint, nint)", "waits for a task (sync over async)",
        "waits for console input", "sleeps (Thread.Sleep)", "waits for a connection",
        "waits for an event, a semaphore or a mutex (WaitHandle)",
        "idle: a helper thread of the runtime waits for work", "idle: the finalizer thread waits for work",
        "at Hang.Program.Deadlock(object, object)"}) {
    EXPECT_NE(out.find(says), std::string::npos) << says << "\n" << out;
  }
}

TEST_F(HangCommandTest, TheHangFixtureTwice) {
  const auto read = read_recording(file_text(golden_file("hang-fixture.mixwalk")));
  ASSERT_TRUE(read.recording);
  Recording later = *read.recording;
  later.unix_time_ms += 30'000;
  HangCommand command;
  command.files = {file("b.mixwalk", stored(later)), golden_file("hang-fixture.mixwalk")};
  const Result result = run(command);
  EXPECT_EQ(result.code, ExitCode::stuck);
  EXPECT_TRUE(result.out.starts_with("4 threads are stuck\n")) << result.out;
  EXPECT_NE(result.out.find("This has lasted for at least 30 s."), std::string::npos);
}

// As report of a process explains the dumps that it has taken.
TEST_F(HangCommandTest, DumpsInMemory) {
  HangCommand command;
  command.single = true;
  command.output = path("report.txt");
  Output output(command.output);
  ASSERT_FALSE(output.failure());
  EXPECT_EQ(explain(command, false, test::deadlocked_program(), "process 4711 (orders.exe)", output),
            ExitCode::deadlock);
  const std::string text = file_text(path("report.txt"));
  EXPECT_NE(text.find("process 4711 (orders.exe)"), std::string::npos) << text;
  EXPECT_NE(text.find("deadlock"), std::string::npos) << text;
}

TEST_F(HangCommandTest, ExitCodes) {
  EXPECT_EQ(run(command(test::deadlocked_program())).code, ExitCode::deadlock);
  EXPECT_EQ(run(command(test::troubled_program())).code, ExitCode::stuck);
  EXPECT_EQ(run(command({test::troubled_program().front()})).code, ExitCode::ok);
}

TEST_F(HangCommandTest, QuietPrintsNothing) {
  HangCommand quiet = command(test::troubled_program());
  quiet.quiet = true;
  const Result result = run(quiet);
  EXPECT_EQ(result.code, ExitCode::stuck);
  EXPECT_EQ(result.out + result.err, "");
}

TEST_F(HangCommandTest, ToAFileAsJson) {
  HangCommand to_file = command(test::troubled_program());
  to_file.output = path("out.json");
  to_file.format = Format::json;
  const Result written = run(to_file);
  EXPECT_EQ(written.out, "");
  EXPECT_EQ(written.err, "mixwalk: wrote \"" + path("out.json") + "\"\n");
  EXPECT_EQ(nlohmann::json::parse(file_text(path("out.json")))["format"], "mixwalk-hang");
}

TEST_F(HangCommandTest, DumpsOfAllKindsInTheOrderOfTheirTime) {
  const std::vector<Snapshot> dumps = test::deadlocked_program();
  HangCommand mixed;
  mixed.files = {file("c.dmp", "MDMP, and what a minidump has"), json_file("b.txt", dumps[1]),
                 file("a.bin", stored(to_recording(dumps[0])))};
  const Result result = run(mixed, "c.dmp");
  EXPECT_EQ(result.code, ExitCode::deadlock) << result.out << result.err;
  const std::size_t first = result.out.find("a.bin"), second = result.out.find("b.txt"),
                    third = result.out.find("c.dmp");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
}

TEST_F(HangCommandTest, ASeriesInOneFile) {
  Recording series = to_recording(test::troubled_program()[0]);
  const std::size_t threads = series.samples.size();
  for (std::size_t i = 0; i < threads; ++i) {
    Recording::Sample again = series.samples[i];
    again.time_ns = 10'000'000'000;
    series.samples.push_back(again);
  }
  series.duration_ns = 10'000'000'000;
  HangCommand command;
  command.files = {file("series.mixwalk", stored(series))};
  const Result result = run(command);
  EXPECT_EQ(result.code, ExitCode::stuck) << result.err;
  EXPECT_NE(result.out.find("dump 2"), std::string::npos);
  EXPECT_NE(result.out.find("+10 s"), std::string::npos);
}

TEST_F(HangCommandTest, ACutSeriesIsComparedAndItsPageSaysSo) {
  const std::string whole = stored(series_recording(test::troubled_program()));
  HangCommand command;
  command.files = {file("series.mixwalk", whole.substr(0, whole.size() - 1))};
  command.format = Format::html;
  command.single = true;
  const Result result = run(command);
  EXPECT_EQ(result.code, ExitCode::stuck);
  EXPECT_NE(result.err.find("series.mixwalk\": the recording was interrupted"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("series.mixwalk\\\": the recording was interrupted"), std::string::npos);
}

// Returns the JSON of compare, without the names of files.
std::string findings_of(const std::string& text) {
  nlohmann::json json = nlohmann::json::parse(text);
  for (nlohmann::json& dump : json.at("dumps")) dump.erase("file");
  return json.dump(1);
}

TEST_F(HangCommandTest, ASeriesSaysWhatItsDumpsSayOneByOne) {
  for (std::vector<Snapshot> dumps : {test::deadlocked_program(), test::troubled_program(), test::healthy_program()}) {
    HangCommand singles, series;
    singles.format = series.format = Format::json;
    for (std::size_t i = 0; i < dumps.size(); ++i) {
      singles.files.push_back(file("dump" + std::to_string(i) + ".mixwalk", stored(to_recording(dumps[i]))));
    }
    series.files = {file("series.mixwalk", stored(series_recording(dumps)))};
    const Result expected = run(singles), found = run(series);
    EXPECT_EQ(found.code, expected.code);
    EXPECT_EQ(findings_of(found.out), findings_of(expected.out));
    series.single = true;  // mixwalk report
    EXPECT_EQ(run(series).code, expected.code);
  }
}

TEST_F(HangCommandTest, OneDumpCannotBeCompared) {
  HangCommand one = command({test::troubled_program().front()});
  one.single = false;
  const Result result = run(one);
  EXPECT_EQ(result.code, ExitCode::input);
  EXPECT_EQ(result.err, "mixwalk: compare needs two dumps or more; mixwalk report explains one\n");
}

TEST_F(HangCommandTest, ADumpThatIsGivenTwiceIsNoProof) {
  const std::vector<Snapshot> dumps = test::troubled_program();
  HangCommand twice = command({dumps[0], dumps[0]});
  const Result refused = run(twice);
  EXPECT_EQ(refused.code, ExitCode::input);
  EXPECT_NE(refused.err.find("is the same dump as"), std::string::npos) << refused.err;

  HangCommand one_too_many = command({dumps[0], dumps[1], dumps[1]});
  const Result result = run(one_too_many);
  EXPECT_EQ(result.code, ExitCode::stuck);
  EXPECT_EQ(result.out, run(command({dumps[0], dumps[1]})).out);
  EXPECT_NE(result.err.find("dump2.json\" is the same dump as "), std::string::npos) << result.err;
}

// A minidump has its time only in seconds, so the content decides whether two dumps are the same.
TEST_F(HangCommandTest, MinidumpsOfOneSecondThatDifferAreTwo) {
  const Snapshot first = test::troubled_program()[0];
  const auto compared = [&](auto change) {
    Snapshot second = first;
    change(second);
    std::vector<Snapshot> dumps = {first, second};
    for (Snapshot& dump : dumps) dump.capture = CaptureMethod::file;
    return run(command(dumps));
  };
  EXPECT_EQ(compared([](Snapshot& dump) { dump.threads[1].cpu = *dump.threads[1].cpu + 1; }).code, ExitCode::stuck);
  EXPECT_EQ(compared([](Snapshot& dump) { dump.threads[0].stack.frames[0].address += 4; }).code, ExitCode::stuck);
  EXPECT_EQ(compared([](Snapshot& dump) { dump.locks[0].waiters.pop_back(); }).code, ExitCode::stuck);
}

TEST_F(HangCommandTest, ACopyOfADumpIsNoSecondOne) {
  for (const CaptureMethod capture : {CaptureMethod::inside, CaptureMethod::outside, CaptureMethod::file}) {
    Snapshot dump = test::troubled_program()[0];
    dump.capture = capture;
    const Result copied = run(command({dump, dump}));
    EXPECT_EQ(copied.code, ExitCode::input);
    EXPECT_NE(copied.err.find("is the same dump as"), std::string::npos) << copied.err;
    // Symbols that were found for only one of the dumps do not make a difference.
    Snapshot named = dump;
    for (Thread& thread : named.threads) thread.stack.frames[0].name = "NtWait";
    EXPECT_EQ(run(command({dump, named})).code, ExitCode::input);
    // It is not known when the dump was made, so its content decides.
    dump.unix_time_ms = 0;
    EXPECT_EQ(run(command({dump, dump})).code, ExitCode::input);
  }
}

TEST_F(HangCommandTest, DumpsWithoutStacksSayNothing) {
  Snapshot empty = test::troubled_program()[0];
  empty.locks.clear();
  Snapshot skipped = empty;
  empty.threads.clear();
  for (Thread& thread : skipped.threads) {
    thread.stack = {};
    thread.skipped = "no access";
  }
  const Result none = run(command({empty}));
  EXPECT_EQ(none.code, ExitCode::input);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.err, "mixwalk: \"" + path("dump0.json") + "\" has no thread: there is nothing to explain\n");
  EXPECT_EQ(run(command({skipped})).err,
            "mixwalk: \"" + path("dump0.json") + "\" has no stack of any thread: there is nothing to explain\n");
  skipped.unix_time_ms += 10'000;
  EXPECT_EQ(run(command({empty, skipped})).code, ExitCode::input);
  EXPECT_EQ(run(command({test::troubled_program()[1], empty})).code, ExitCode::input);
}

TEST_F(HangCommandTest, AnEmptyDumpAmongOthersIsLeftOut) {
  std::vector<Snapshot> dumps = test::troubled_program();
  const std::string expected = run(command(dumps)).out;
  dumps.push_back(dumps[1]);
  dumps[2].threads.clear();
  dumps[2].locks.clear();
  dumps[2].unix_time_ms += 10'000;
  const Result result = run(command(dumps));
  EXPECT_EQ(result.code, ExitCode::stuck);
  EXPECT_EQ(result.out, expected);
  EXPECT_NE(result.err.find("dump2.json\" has no thread, and is left out"), std::string::npos) << result.err;
}

// A part that a filter left out of one dump must not count as changed in the other.
TEST_F(HangCommandTest, DumpsThatWereFilteredAreSaidToBe) {
  struct Made {
    FrameFilter filter;
    bool some_threads = false, as_recording = false;
  };
  const auto compared = [&](const Made& first, const Made& second) {
    HangCommand command;
    const std::vector<Snapshot> dumps = test::troubled_program();
    const Made* const made[] = {&first, &second};
    for (std::size_t i = 0; i < 2; ++i) {
      Snapshot dump = dumps[i];
      if (made[i]->some_threads) dump.threads.resize(4);
      dump.omissions.threads = made[i]->some_threads;
      StringSink sink;
      if (made[i]->as_recording) {
        EXPECT_TRUE(write_store(to_recording(dump), sink));
      } else {
        EXPECT_TRUE(write_json(dump, made[i]->filter, sink));
      }
      command.files.push_back(file("filtered" + std::to_string(i), sink.text));
    }
    command.format = Format::json;
    return nlohmann::json::parse(run(command).out);
  };
  const auto verdicts = [](const nlohmann::json& json, const char* verdict) {
    return std::ranges::count_if(json.at("threads"),
                                 [&](const auto& thread) { return thread.at("verdict") == verdict; });
  };
  const auto cut = compared({.filter = {.depth = 3}}, {});
  EXPECT_EQ(cut.at("gaps").at(0), "Dump 1 has no more than 3 frames of each stack (--depth)");
  EXPECT_EQ(verdicts(cut, "moved"), 0);
  EXPECT_EQ(verdicts(cut, "stuck"), 0);
  const auto managed = compared({.filter = {.managed_only = true}}, {.filter = {.managed_only = true}});
  EXPECT_EQ(managed.at("gaps").at(0), "Dumps 1 and 2 have no native frames (--managed-only)");
  EXPECT_GT(verdicts(managed, "stuck"), 0);
  for (const bool as_recording : {false, true}) {
    SCOPED_TRACE(as_recording);
    const Made part{.filter = {}, .some_threads = true, .as_recording = as_recording};
    const auto some = compared({}, part);
    EXPECT_EQ(some.at("gaps").at(0), "Dump 2 has not all threads (--thread)");
    EXPECT_EQ(verdicts(some, "gone"), 0);
    EXPECT_EQ(verdicts(compared(part, {}), "new"), 0);
  }
}

// Locks alone can prove a deadlock.
TEST_F(HangCommandTest, LocksWithoutStacksAreLookedAt) {
  Snapshot dump = test::deadlocked_program()[0];
  for (Thread& thread : dump.threads) thread.stack = {};
  EXPECT_EQ(run(command({dump})).code, ExitCode::deadlock);
}

TEST_F(HangCommandTest, DumpsOfOneMomentOfTwoProcessesAreTwo) {
  Snapshot other = test::troubled_program()[0];
  other.process.path = "C:\\other\\orders.exe";
  const Result result = run(command({test::troubled_program()[0], other}));
  EXPECT_EQ(result.code, ExitCode::ok);
  EXPECT_EQ(result.err, "");
}

TEST_F(HangCommandTest, FilesThatAreNoDumps) {
  HangCommand command;
  command.single = true;
  for (const std::string& bytes : {std::string(), std::string("hello"), std::string("{"), std::string("{}"),
                                   std::string("[1]"), std::string(1000, '{')}) {
    command.files = {file("x", bytes)};
    const Result result = run(command);
    EXPECT_EQ(result.code, ExitCode::input) << bytes;
    EXPECT_TRUE(result.err.starts_with("mixwalk: cannot read ")) << result.err;
  }
  command.files = {path("missing")};
  EXPECT_EQ(run(command).code, ExitCode::input);
  command.files = {golden_file("wall.mixwalk")};
  EXPECT_NE(run(command).err.find("it is a recording, which report does not take"), std::string::npos);
}

TEST_F(HangCommandTest, TwoRecordingsAreComparedInTheOrderOfTheCommandLine) {
  const auto [before, after] = compared_recordings();
  HangCommand command;
  command.files = {file("b.mixwalk", stored(after)), file("a.mixwalk", stored(before))};
  const Result result = run(command);
  EXPECT_EQ(result.code, ExitCode::ok) << result.err;
  EXPECT_LT(result.out.find("b.mixwalk"), result.out.find("a.mixwalk"));
  EXPECT_NE(result.out.find("-14.7   14.7 % →   0.0 %  M  Orders.Service.Audit"), std::string::npos) << result.out;
  command.quiet = true;
  EXPECT_EQ(run(command).out, "");
  command.quiet = false;
  command.format = Format::html;
  EXPECT_NE(run(command).out.find("\"compared\":[{\"file\":"), std::string::npos);
  command.format = Format::json;
  EXPECT_EQ(run(command).code, ExitCode::input);
  command.format = Format::text;
  command.across = true;
  const Result across = run(command);
  EXPECT_EQ(across.code, ExitCode::usage) << "the option is wrong, not the file";
  EXPECT_NE(across.err.find("--across cannot be used with recordings"), std::string::npos) << across.err;
}

TEST_F(HangCommandTest, RecordingsThatCannotBeCompared) {
  const auto [before, after] = compared_recordings();
  Recording other = after;
  other.event = SampleEvent::cpu;
  const std::string a = file("a.mixwalk", stored(before)), b = file("b.mixwalk", stored(after)),
                    c = file("c.mixwalk", stored(other)),
                    dump = file("d.mixwalk", stored(to_recording(test::healthy_program()[0])));
  HangCommand command;
  const auto refused = [&](std::vector<std::string> files) {
    command.files = std::move(files);
    const Result result = run(command);
    EXPECT_EQ(result.code, ExitCode::input);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_NE(refused({a}).find("needs two recordings"), std::string::npos);
  EXPECT_NE(refused({a, b, a}).find("compare takes two recordings, and there are more"), std::string::npos);
  EXPECT_NE(refused({dump, a}).find("is a recording, and "), std::string::npos);
  EXPECT_NE(refused({a, dump}).find("is a recording, and "), std::string::npos);
  EXPECT_NE(refused({a, c}).find("one recording is of \"wall\" and the other of \"cpu\""), std::string::npos);
  command.single = true;
  EXPECT_NE(refused({a}).find("it is a recording, which report does not take"), std::string::npos);
}

TEST_F(HangCommandTest, HtmlOfAFleetSaysWhatItHasInCommon) {
  HangCommand command;
  for (std::uint32_t i = 0; i < 2; ++i) {
    Snapshot dump = test::deadlocked_program()[0];
    dump.process.id = 100 + i;
    command.files.push_back(json_file("web" + std::to_string(i) + ".json", dump));
  }
  command.format = Format::html;
  EXPECT_EQ(run(command).out.find("\"across\":{"), std::string::npos);
  command.across = true;
  EXPECT_NE(run(command).out.find("\"across\":{"), std::string::npos);
}

TEST_F(HangCommandTest, AnOutputThatIsOneOfTheDumpsIsRefused) {
  const std::vector<Snapshot> dumps = test::troubled_program();
  HangCommand over = command(dumps);
  over.format = Format::json;
  over.output = (folder_ / "." / "dump1.json").string();
  const Result result = run(over);
  EXPECT_EQ(result.code, ExitCode::output);
  EXPECT_NE(result.err.find("that would overwrite a dump that is read"), std::string::npos) << result.err;
  // The file is unchanged.
  EXPECT_EQ(run(command(dumps)).out, run(HangCommand{.files = over.files}).out);
  over.output.reset();
  EXPECT_EQ(run(over).code, ExitCode::stuck);
}

TEST_F(HangCommandTest, ADumpMayComeFromStandardInput) {
  const std::vector<Snapshot> dumps = test::troubled_program();
  HangCommand piped = command(dumps);
  std::istringstream input(file_text(piped.files[0]));
  piped.files[0] = "-";
  std::streambuf* const usual = std::cin.rdbuf(input.rdbuf());
  EXPECT_EQ(run(piped).code, ExitCode::stuck);
  std::istringstream minidump("MDMP, and what a minidump has");
  std::cin.rdbuf(minidump.rdbuf());
  std::cin.clear();
  const Result refused = run(HangCommand{.files = {"-"}, .single = true}, "-");
  std::cin.rdbuf(usual);
  std::cin.clear();
  EXPECT_EQ(refused.code, ExitCode::input);
  EXPECT_NE(refused.err.find("cannot read standard input: it is a minidump"), std::string::npos) << refused.err;
}

TEST_F(HangCommandTest, ASymbolPathThatIsNoFolderIsSaid) {
  HangCommand one = command({test::troubled_program()[0]});
  one.symbols.path = folder_.string() + ";" + path("nothere") + ";srv*\\\\mixwalk.invalid\\symbols";
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  mixwalk::run(one, false, [](const std::string&) -> Outcome<Snapshot> { return Failure{ExitCode::input, "none"}; });
  testing::internal::GetCapturedStdout();
  const std::string err = testing::internal::GetCapturedStderr();
  EXPECT_NE(err.find("mixwalk: --symbol-path: \"" + path("nothere") + "\" is not a folder, and is left out\n"),
            std::string::npos)
      << err;
  const char* const share = kOpensShares ? "symbols\" is not a folder" : "is on another machine, and is left out";
  EXPECT_NE(err.find(share), std::string::npos) << err;
  EXPECT_EQ(std::ranges::count(err, '\n'), 2) << err;
}

TEST_F(HangCommandTest, AnOutputThatCannotBeWritten) {
  HangCommand to_file = command(test::troubled_program());
  to_file.output = path("no/such/folder");
  EXPECT_EQ(run(to_file).code, ExitCode::output);
}

TEST_F(HangCommandTest, ACrashHasACodeOfItsOwn) {
  const Result result = run(command({test::crashed_program()}));
  EXPECT_EQ(result.code, ExitCode::crash) << result.err;
  EXPECT_NE(result.out.find("crashed in ntdll.dll!memset"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace mixwalk
