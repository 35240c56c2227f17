// A program of .NET Framework 4 is compiled here by the compiler that Windows has. mixwalk must say what it cannot do,
// and do what it can.

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/end_to_end/ended_thread.h"
#include "tests/end_to_end/dumped_threads.h"
#include "tests/support/remove_tree.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/exit_code.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kCalls = 20;
// The source without the class Calls, whose constant Count is kCalls.
constexpr const char* kSource = R"(
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static class Parked
{
    [DllImport("kernel32")]
    private static extern void Sleep(uint milliseconds);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Deep(int left)
    {
        if (left != 0)
        {
            return Deep(left - 1) + 1;
        }

        Sleep(600000);
        return 0;
    }

    private static void Main(string[] arguments)
    {
        new Thread(() => Deep(Calls.Count)) { IsBackground = true }.Start();
        Thread.Sleep(1000);
        Console.WriteLine("READY");
        if (arguments.Length != 0)
        {
            Thread.Sleep(int.Parse(arguments[0]));
        }
        else
        {
            Console.ReadLine();
        }
    }
}
)";

std::string compiler() {
  WCHAR windows[MAX_PATH] = {};
  GetWindowsDirectoryW(windows, MAX_PATH);
  return to_utf8(windows) + "\\Microsoft.NET\\Framework64\\v4.0.30319\\csc.exe";
}

class Framework : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(utf8_path(compiler()))) GTEST_SKIP() << "there is no .NET Framework 4, " << compiler();
    std::ofstream(utf8_path(source_)) << kSource << "static class Calls { public const int Count = " << kCalls
                                      << "; }\n";
    const ProgramResult compiled =
        run_program({compiler(), "/nologo", "/optimize", "/platform:x64", "/out:" + program_, source_});
    ASSERT_EQ(compiled.exit_code, 0u) << compiled.out << compiled.err;
  }
  ~Framework() override {
    remove_file(source_);
    // A program that mixwalk has started may run on for a while, so the folder may not be removable yet.
    static_cast<void>(remove_tree(utf8_path(program_)));
  }
  static void ready(ChildProcess& parked) { ASSERT_EQ(parked.read_line(), "READY"); }
  static void expect_unharmed(ChildProcess& parked) {
    EXPECT_TRUE(parked.running());
    parked.write_line("STOP");
    EXPECT_EQ(parked.wait(20'000), 0u);
  }

  const std::string source_ = temporary_file("parked.cs"), program_ = temporary_file("parked.exe");
};

TEST_F(Framework, AnAttachIsRefusedWithASentence) {
  ChildProcess parked({program_});
  ready(parked);
  const std::string id = std::to_string(parked.id());
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"dump", "-p", id}, {"dump", "--inside", "-p", id}, {"record", "-p", id, "-d", "1s"}}) {
    std::vector<std::string> arguments = {mixwalk_exe()};
    arguments.insert(arguments.end(), line.begin(), line.end());
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::not_dotnet)) << result.out << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find("runs .NET Framework, which cannot be attached to"), std::string::npos) << result.err;
  }
  expect_unharmed(parked);
}

TEST_F(Framework, DoctorSaysWhatItIs) {
  ChildProcess parked({program_});
  ready(parked);
  const ProgramResult result = run_program({mixwalk_exe(), "doctor", "-p", std::to_string(parked.id())});
  EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::not_dotnet)) << result.out << result.err;
  EXPECT_NE(result.out.find(".NET Framework"), std::string::npos) << result.out;
  expect_unharmed(parked);
}

// The dump has native frames, and its field `unasked` says why managed frames are missing or have no names.
TEST_F(Framework, CanBeReadFromOutside) {
  ChildProcess parked({program_});
  ready(parked);
  const Json dump = dump_as_json(parked.id(), {"--outside"});
  EXPECT_EQ(dump.at("runtime").at("name"), ".NET Framework");
  EXPECT_TRUE(dump.at("unasked").is_string()) << dump.at("unasked");
  EXPECT_FALSE(dump.at("threads").empty());
  for (const Json& thread : dump.at("threads")) {
    EXPECT_TRUE(ended_meanwhile(thread) || !thread.at("frames").empty()) << thread.dump(1);
  }
  expect_unharmed(parked);
}

TEST_F(Framework, AStartedProgramHasWholeStacks) {
  const ProgramResult result =
      run_program({mixwalk_exe(), "dump", "-f", "json", "--after", "4s", "--", program_, "10000"});
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  // The output that the program itself has written comes before the dump.
  const Json dump = Json::parse(result.out.substr(result.out.find('{')));
  EXPECT_EQ(dump.at("runtime").at("name"), ".NET Framework");
  std::ptrdiff_t calls = 0;
  for (const Json& thread : dump.at("threads")) {
    const auto frames = dumped_frames(dump, thread, Rvas::left_out);
    const auto deep = std::ranges::count_if(frames, [](const std::string& frame) {
      return frame.starts_with("managed ") && frame.ends_with(" Parked.Deep(System.Int32)");
    });
    if (deep == 0) continue;
    calls += deep;
    EXPECT_TRUE(thread.at("whole").get<bool>()) << thread.dump(1);
  }
  EXPECT_EQ(calls, kCalls + 1);
}

}  // namespace
}  // namespace mixwalk
