// Walks processes from outside that cannot be walked from inside, and compares the stacks that both sides find.

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/dumped_threads.h"
#include "tests/end_to_end/ended_thread.h"
#include "tests/end_to_end/recorded_file.h"
#include "tests/end_to_end/session.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/suspend_counts.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/base/exit_code.h"
#include "walker/session/win/thread_list.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

// Returns what both sides know about the frames of a thread.
std::vector<std::string> frames_of(const Json& dump, const std::string& name) {
  const Json* thread = dumped_thread(dump, name);
  return thread == nullptr ? std::vector<std::string>() : dumped_frames(dump, *thread, Rvas::shown);
}

void expect_whole_from_outside(const Json& dump, const std::vector<std::string>& names = stuck_threads()) {
  EXPECT_EQ(dump.at("way"), "outside");
  EXPECT_TRUE(dump.at("unasked").is_null()) << dump.at("unasked");
  expect_whole_threads(dump, names);
}

class FromOutside : public testing::Test {
 protected:
  static void ready(ChildProcess& program) {
    ASSERT_TRUE(program.read_line().value_or("").starts_with("READY"));
  }
  static void expect_unharmed(ChildProcess& program) {
    EXPECT_TRUE(program.running());
    program.write_line("STOP");
    EXPECT_EQ(program.wait(20'000), 0u);
  }
};

TEST_F(FromOutside, TheSameStacksAsFromInside) {
  ChildProcess hang({fixture("hang.exe")});
  ready(hang);
  const Json outside = dump_as_json(hang.id(), {"--outside"});
  expect_whole_from_outside(outside);
  EXPECT_TRUE(outside.at("way_reason").is_null()) << outside.at("way_reason");
  for (const char* engine : {"snapshot", "copy"}) {
    const Json inside = dump_as_json(hang.id(), {"--inside", "--wait", "10s", "--engine", engine});
    EXPECT_EQ(inside.at("way"), "inside");
    EXPECT_EQ(inside.at("runtime").at("version").get<std::string>().substr(0, 7),
              outside.at("runtime").at("version").get<std::string>().substr(0, 7));
    for (const std::string& name : stuck_threads()) {
      EXPECT_EQ(frames_of(outside, name), frames_of(inside, name)) << name;
    }
  }
  expect_unharmed(hang);
}

// The program carries images in its own file, and these are in no list of images.
TEST_F(FromOutside, AProgramOfOneFile) {
  ChildProcess single({fixture("single.exe")});
  ready(single);
  const Json outside = dump_as_json(single.id(), {"--outside"});
  expect_whole_from_outside(outside, {"waiting"});
  const Json inside = dump_as_json(single.id(), {"--inside", "--wait", "10s"});
  EXPECT_EQ(frames_of(outside, "waiting"), frames_of(inside, "waiting"));
  const std::string version = inside.at("runtime").at("version");
  EXPECT_TRUE(version.starts_with("10.0.")) << version;
  EXPECT_EQ(outside.at("runtime").at("version"), version);
  expect_unharmed(single);
}

TEST_F(FromOutside, DiagnosticsAreSwitchedOff) {
  ChildProcess hang({fixture("hang.exe")}, StartOptions{.environment = {{"DOTNET_EnableDiagnostics", "0"}}});
  ready(hang);
  const Json outside = dump_as_json(hang.id());
  expect_whole_from_outside(outside);
  EXPECT_NE(outside.at("way_reason").get<std::string>().find("DOTNET_EnableDiagnostics"), std::string::npos);
  expect_unharmed(hang);
}

TEST_F(FromOutside, AnotherProfilerIsAttached) {
  ChildProcess hang({fixture("hang.exe")});
  ready(hang);
  TargetSession other = attach_to(hang.id());
  const Json outside = dump_as_json(hang.id());
  expect_whole_from_outside(outside);
  EXPECT_NE(outside.at("way_reason").get<std::string>().find("another mixwalk"), std::string::npos);
  EXPECT_TRUE(other.dump({}));
  EXPECT_EQ(other.leave(), "");
  expect_unharmed(hang);
}

// The diagnostics thread answers on the diagnostics port; the runtime names it after its first task.
TEST_F(FromOutside, TheDiagnosticsThreadStands) {
  ChildProcess hang({fixture("hang.exe")});
  ready(hang);
  UniqueHandle server;
  std::string names;
  // The thread gets its name only when it begins to run, so the test tries again.
  for (int attempt = 0; attempt < 100 && !server; ++attempt) {
    const std::vector<std::uint32_t> ids = list_threads(hang.id()).value();
    for (const std::uint32_t id : ids) {
      UniqueHandle thread(OpenThread(THREAD_SUSPEND_RESUME | THREAD_QUERY_LIMITED_INFORMATION, FALSE, id));
      const std::string name = thread ? thread_description(thread.get()) : "? " + std::to_string(GetLastError());
      names += name + ", ";
      if (name == ".NET EventPipe") server = std::move(thread);
    }
    if (!server) Sleep(100);
  }
  ASSERT_TRUE(server) << names.substr(0, 500);
  ASSERT_NE(SuspendThread(server.get()), ~0u);
  const Json outside = dump_as_json(hang.id());
  EXPECT_EQ(ResumeThread(server.get()), 1u) << "somebody else has suspended it, or let it run";
  expect_whole_from_outside(outside);
  expect_unharmed(hang);
}

TEST_F(FromOutside, TheLoaderLockIsHeldForGood) {
  ChildProcess ends({fixture("ends.exe"), "--way", "main", "--wait"});
  ready(ends);
  ends.write_line("LOCK");
  ASSERT_TRUE(ends.read_line().value_or("").starts_with("DONE"));
  const Json outside = dump_as_json(ends.id());
  EXPECT_EQ(outside.at("way"), "outside");
  std::size_t managed = 0;
  for (const Json& thread : outside.at("threads")) {
    EXPECT_TRUE(ended_meanwhile(thread) || thread.at("whole").get<bool>()) << thread.dump(1);
    managed += thread.at("managed").get<bool>();
  }
  EXPECT_GT(managed, 2u);
  ends.write_line("UNLOCK");
  EXPECT_TRUE(ends.read_line().value_or("").starts_with("DONE"));
}

// The thread that collects does nothing else, so it is nearly always in the middle of a collection.
TEST_F(FromOutside, ACollectionThatNeverEnds) {
  ChildProcess locks({fixture("locks.exe"), "--lock", "suspension"});
  const std::string line = locks.read_line().value_or("");
  ASSERT_TRUE(line.starts_with("READY")) << line;
  // The line is: READY pid holder parked
  const std::string holder = line.substr(line.find(' ', 6) + 1);
  const UniqueHandle thread(OpenThread(THREAD_SUSPEND_RESUME, FALSE, static_cast<DWORD>(std::stoul(holder))));
  ASSERT_TRUE(thread);
  bool outside = false;
  for (int attempt = 0; attempt < 10 && !outside; ++attempt) {
    ASSERT_NE(SuspendThread(thread.get()), ~0u);
    const Json stacks = dump_as_json(locks.id());
    // The runtime, which continues the collection, suspends this thread now and then for a moment.
    EXPECT_GE(ResumeThread(thread.get()), 1u);
    EXPECT_TRUE(all_run_within(locks.id(), 10'000));
    outside = stacks.at("way") == "outside";
    if (outside) expect_whole_from_outside(stacks, {"parked"});
    Sleep(500);  // until mixwalk.dll, which can be loaded now, has left
  }
  EXPECT_TRUE(outside);
  expect_unharmed(locks);
}

IMAGE_NT_HEADERS64& headers_of(std::string& file) {
  const auto* const begin = reinterpret_cast<const IMAGE_DOS_HEADER*>(file.data());
  return *reinterpret_cast<IMAGE_NT_HEADERS64*>(file.data() + begin->e_lfanew);
}

// Writes a library that the runtime of the fixtures accepts as its debugging library, and that never answers.
std::string write_dac_that_hangs() {
  std::string library = bytes_of(beside("dac_hangs_at_once.dll")), real = bytes_of(fixture("mscordaccore.dll"));
  IMAGE_NT_HEADERS64 &headers = headers_of(library), &wanted = headers_of(real);
  headers.FileHeader.TimeDateStamp = wanted.FileHeader.TimeDateStamp;
  headers.OptionalHeader.SizeOfImage = wanted.OptionalHeader.SizeOfImage;
  IMAGE_SECTION_HEADER& last = IMAGE_FIRST_SECTION(&headers)[headers.FileHeader.NumberOfSections - 1];
  EXPECT_LT(last.VirtualAddress, wanted.OptionalHeader.SizeOfImage);
  last.Misc.VirtualSize = wanted.OptionalHeader.SizeOfImage - last.VirtualAddress;
  const std::string path = temporary_file("dac_hangs.dll");
  std::ofstream(utf8_path(path), std::ios::binary) << library;
  return path;
}

struct Ending {
  const char* name;
  std::vector<std::string> program, options;
};

class ProcessThatEnds : public testing::TestWithParam<Ending> {};

// The process ends while mixwalk waits for the debugging library.
TEST_P(ProcessThatEnds, IsTheReasonThatTheDumpFailed) {
  std::vector<std::string> line = GetParam().program;
  line.front() = fixture(line.front());
  ChildProcess program(line);
  ASSERT_TRUE(program.read_line().value_or("").starts_with("READY"));
  const std::string dac = write_dac_that_hangs();
  std::vector<std::string> dump = {mixwalk_exe(), "dump", "-p", std::to_string(program.id()), "--dac", dac};
  dump.insert(dump.end(), GetParam().options.begin(), GetParam().options.end());
  auto dumping = std::async(std::launch::async, [&] { return run_program(dump); });
  // mixwalk.exe opens the process before it starts another program: the watcher, then the worker.
  const auto has_child = [&](std::uint32_t id) { return id != program.id() && !children_of(id).empty(); };
  while (dumping.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready &&
         std::ranges::none_of(children_of(GetCurrentProcessId()), has_child)) {
  }
  program.terminate();
  const ProgramResult result = dumping.get();
  EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::target_exited)) << result.out << result.err;
  EXPECT_EQ(result.err, "mixwalk: process " + std::to_string(program.id()) + " (" + GetParam().program.front() +
                            ") ended with code 99 while mixwalk looked at it\n");
  remove_file(dac);
}

INSTANTIATE_TEST_SUITE_P(
    , ProcessThatEnds,
    testing::Values(Ending{"outside", {"hang.exe"}, {"--outside"}},
                    Ending{"patched", {"locks.exe", "--lock", "heap", "--patched"}, {}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace mixwalk
