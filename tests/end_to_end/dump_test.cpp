// Runs mixwalk.exe on programs that hang.

#include <gtest/gtest.h>
#include <windows.h>
#include <tlhelp32.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "tests/end_to_end/ended_thread.h"
#include "tests/end_to_end/recorded_file.h"
#include "tests/end_to_end/session.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "unmanaged/win/unique_handle.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

// A hang fixture that is ready.
class Hang {
 public:
  explicit Hang(std::vector<std::string> options = {}) : process_(arguments(std::move(options))) {
    const auto line = process_.read_line();
    ready_ = line && line->starts_with("READY");
  }
  bool ready() const { return ready_; }
  ChildProcess& process() { return process_; }
  std::string id() const { return std::to_string(process_.id()); }
  // The program continues as before: it reacts to its input, and ends by itself.
  void expect_unharmed() {
    EXPECT_TRUE(process_.running());
    process_.write_line("STOP");
    EXPECT_EQ(process_.wait(20'000), 0u);
  }

 private:
  static std::vector<std::string> arguments(std::vector<std::string> options) {
    options.insert(options.begin(), fixture("hang.exe"));
    return options;
  }
  ChildProcess process_;
  bool ready_ = false;
};

// hang.exe is started once for all cases that only look at it.
class Dump : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    hang_.emplace();
    ASSERT_TRUE(hang_->ready());
  }
  static void TearDownTestSuite() {
    hang_->expect_unharmed();
    hang_.reset();
  }
  ~Dump() override { EXPECT_TRUE(hang_->process().running()); }

  static std::string id() { return hang_->id(); }

  static inline std::optional<Hang> hang_;
};

// The look at locks is made from outside, and takes as long as the rest of the dump.
Json dump_json(const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {mixwalk_exe(), "dump",    "--inside", "--no-locks",
                                        "-f",          "json",    "--symbols", "offline"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const ProgramResult result = run_program(arguments);
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_EQ(result.err, "");
  return result.exit_code == 0 ? Json::parse(result.out) : Json();
}

// Returns the names of the program's own threads. Workers of .NET are left out, because they start and end at any time.
std::set<std::string> thread_names(const Json& dump) {
  std::set<std::string> names;
  for (const auto& thread : dump.at("threads")) {
    if (thread.at("name").is_string()) names.insert(thread.at("name").get<std::string>());
  }
  std::erase_if(names, may_end);
  return names;
}

TEST_F(Dump, ShowsEveryWayToHang) {
  const Json dump = dump_json({"-p", id()});
  const auto names = thread_names(dump);
  for (const char* name : {"deadlock 1", "deadlock 2", "task result", "native wait", "sleep", "spin",
                           "accept", "deep", "exception"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  bool native_thread = false;
  for (const auto& thread : dump.at("threads")) {
    EXPECT_TRUE(ended_meanwhile(thread) || thread.at("whole").get<bool>()) << thread.dump(1);
    std::size_t recursions = 0;
    for (const auto& frame : thread.at("frames")) {
      const std::string name = frame.at("name").is_string() ? frame.at("name") : "";
      recursions += name == "Hang.Program.Recurse(System.Int32)";
      if (name == "ladder_native_thread_main") {
        native_thread = true;
        EXPECT_FALSE(thread.at("managed").get<bool>());
      }
    }
    EXPECT_EQ(recursions, thread.at("name") == "deep" ? 1001u : 0u);
  }
  EXPECT_TRUE(native_thread) << "a thread that never ran managed code is walked too";
}

TEST_F(Dump, TenTimesInARowLeavesNothingBehind) {
  // The first visits load what the runtime never unloads (its profiling code, our DLL's path).
  dump_json({"-p", id()});
  dump_json({"-p", id()});
  const DWORD before = hang_->process().handle_count();
  for (int i = 0; i < 10; ++i) dump_json({"-p", id()});
  // The runtime's pool starts and ends a thread, with its handles, now and then. A leak would be at least one handle
  // per visit.
  EXPECT_LT(hang_->process().handle_count(), before + 5);
}

TEST_F(Dump, TwoHundredThreadsInOneAttach) {
  Hang hang({"--many", "200"});
  ASSERT_TRUE(hang.ready());
  TargetSession session = attach_to(hang.process().id());
  const ULONGLONG begin = GetTickCount64();
  const Snapshot snapshot = dump_named(session, {});
  const ULONGLONG took = GetTickCount64() - begin;
  const auto idle = threads_that_begin(snapshot, "idle ");
  EXPECT_EQ(idle.size(), 200u);
  for (const Thread* thread : idle) {
    EXPECT_TRUE(all_runs_closed(thread->stack)) << to_text(snapshot, *thread);
  }
  std::printf("%zu threads in %llu ms\n", snapshot.threads.size(), took);
  EXPECT_EQ(session.leave(), "");
  hang.expect_unharmed();
}

std::set<DWORD> threads_of_process(DWORD process) {
  std::set<DWORD> ids;
  const UniqueHandle list(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0));
  THREADENTRY32 entry{.dwSize = sizeof entry};
  for (BOOL more = Thread32First(list.get(), &entry); more; more = Thread32Next(list.get(), &entry)) {
    if (entry.th32OwnerProcessID == process) ids.insert(entry.th32ThreadID);
  }
  return ids;
}

// The runtime's thread that detaches a profiler begins a quarter of a second late, as on a busy machine.
TEST_F(Dump, LeavesSoonWhereTheRuntimeBeginsLate) {
  Hang hang;
  ASSERT_TRUE(hang.ready());
  const std::set<DWORD> before = threads_of_process(hang.process().id());
  std::vector<UniqueHandle> late;  // this thread never ends
  ULONGLONG best = ~0ull;
  for (int i = 0; i < 3 && best > 4'000; ++i) {
    TargetSession session = attach_to(hang.process().id());
    const Snapshot snapshot = dump_named(session, {});
    // Our own threads are in no dump, so any new thread is the runtime's.
    for (const Thread& thread : snapshot.threads) {
      if (i > 0 || before.contains(thread.os_id)) continue;
      late.emplace_back(OpenThread(THREAD_SUSPEND_RESUME, FALSE, thread.os_id));
    }
    ASSERT_FALSE(late.empty());
    for (const UniqueHandle& thread : late) SuspendThread(thread.get());
    const ULONGLONG begin = GetTickCount64();
    std::jthread resume([&] {
      Sleep(250);
      for (const UniqueHandle& thread : late) ResumeThread(thread.get());
    });
    EXPECT_EQ(session.leave(), "");
    best = std::min(best, GetTickCount64() - begin);
  }
  EXPECT_LE(best, 4'000u) << "the runtime looks every 5 s where its first two looks are over";
  hang.expect_unharmed();
}

TEST_F(Dump, ByName) {
  EXPECT_EQ(dump_json({"--name", "HANG"}).at("process").at("id"), hang_->process().id());
}

TEST_F(Dump, AProgramThatItStarts) {
  const ProgramResult result =
      run_program({mixwalk_exe(), "dump", "-f", "json", "-o", temporary_file("started.json"),
                   "--after", "6s", "--", fixture("hang.exe"), "--exit-after-ms", "15000"});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  std::ifstream in(utf8_path(temporary_file("started.json")));
  const Json dump = Json::parse(in);
  EXPECT_TRUE(thread_names(dump).contains("deadlock 1"));
  std::size_t managed = 0;
  for (const auto& thread : dump.at("threads")) {
    managed += thread.at("managed").get<bool>();
    EXPECT_TRUE(ended_meanwhile(thread) || thread.at("whole").get<bool>()) << thread.dump(1);
  }
  EXPECT_GT(managed, 8u);
}

TEST_F(Dump, ManagedOnlyAndDepth) {
  const Json dump = dump_json({"-p", id(), "--managed-only", "--depth", "3"});
  for (const auto& thread : dump.at("threads")) {
    EXPECT_LE(thread.at("frames").size(), 3u);
    for (const auto& frame : thread.at("frames")) EXPECT_EQ(frame.at("kind"), "managed");
  }
}

TEST_F(Dump, StraightIntoTheFormatOfAnotherTool) {
  const std::string out = temporary_file("hang.folded");
  const ProgramResult result = run_program({mixwalk_exe(), "dump", "--inside", "-p", id(), "-o", out});
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  const std::string text = bytes_of(out);
  EXPECT_NE(text.find(";kernelbase.dll!"), std::string::npos) << text;
  EXPECT_NE(text.find("_[j];"), std::string::npos) << text;
  remove_file(out);
}

TEST_F(Dump, AsARecordingItShowsTheSameThreadsWhole) {
  const Json direct = dump_json({"-p", id()});
  const std::string recording = temporary_file("hang.mixwalk");
  const ProgramResult dumped =
      run_program({mixwalk_exe(), "dump", "--inside", "-p", id(), "-o", recording});
  ASSERT_EQ(dumped.exit_code, 0u) << dumped.err;
  const ProgramResult converted = run_program({mixwalk_exe(), "convert", recording, "-f", "json"});
  ASSERT_EQ(converted.exit_code, 0u) << converted.err;
  EXPECT_EQ(converted.err, "") << "nothing is cut";
  const Json dump = Json::parse(converted.out);
  EXPECT_EQ(thread_names(dump), thread_names(direct));
  EXPECT_EQ(dump.at("process"), direct.at("process"));
  EXPECT_EQ(dump.at("runtime"), direct.at("runtime"));
  for (const auto& thread : dump.at("threads")) {
    EXPECT_TRUE(ended_meanwhile(thread) || thread.at("whole").get<bool>()) << thread.dump(1);
  }
}

TEST_F(Dump, TextIsForAPerson) {
  const ProgramResult result = run_program({mixwalk_exe(), "dump", "--inside", "-p", id(), "-v"});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_NE(result.out.find("\"native wait\" (MTA)  managed  whole: "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("  N  ladder_native.dll!ladder_native_park+0x"), std::string::npos);
  EXPECT_NE(result.out.find("  M  Hang.Program.Deadlock(object, object)  (Program.cs:~"), std::string::npos);
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << "no colour in a pipe";
  EXPECT_NE(result.err.find("attaching"), std::string::npos) << "-v says what is done";
}

// The images are Wine's DLLs, coreclr and a DLL of our own. All frames are true.
TEST_F(Dump, NoTrueFrameIsMarkedAndMostCallsAreVerified) {
  const Json dump = dump_json({"-p", id()});
  const Json& calls = dump.at("counters").at("calls");
  EXPECT_EQ(calls.at("no-call"), 0) << calls;
  EXPECT_EQ(calls.at("elsewhere"), 0) << calls;
  EXPECT_GT(calls.at("verified").get<int>(), 50) << calls;
  EXPECT_GT(calls.at("verified_share").get<double>(), 0.5) << calls;
}

TEST_F(Dump, AsmShowsTheCallOfEachNativeFrame) {
  const ProgramResult result = run_program({mixwalk_exe(), "dump", "--inside", "-p", id(), "--asm", "-v"});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_NE(result.out.find(": call qword ptr [rip"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("  ; ntdll.dll!"), std::string::npos) << "an import";
  EXPECT_EQ(result.out.find("after no call"), std::string::npos);
  EXPECT_NE(result.err.find("% lead to the frame above"), std::string::npos) << result.err;
}

TEST(Ps, ListsAProcessThatCanBeAttachedTo) {
  Hang hang;
  ASSERT_TRUE(hang.ready());
  const ProgramResult result = run_program({mixwalk_exe(), "ps", "-f", "json"});
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  bool found = false;
  for (const auto& row : Json::parse(result.out)) {
    if (row.at("process_id") != hang.process().id()) continue;
    found = true;
    EXPECT_EQ(row.at("name"), "hang.exe");
    EXPECT_TRUE(row.at("runtime").get<std::string>().starts_with(".NET 10."));
  }
  EXPECT_TRUE(found) << result.out;
  hang.expect_unharmed();
}

}  // namespace
}  // namespace mixwalk
