// Dumps of programs that crash, written with the exception by another program (write_minidump.exe), as Windows Error
// Reporting does. The first five lines that mixwalk prints must have the cause, the thread and the program's own frame.
// These are the quick ones; tests/tools/crash-matrix has all.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/win/child_process.h"
#include "walker/base/exit_code.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr const char* kStacksOnly = "0";    // MiniDumpNormal
constexpr const char* kWholeMemory = "2";  // MiniDumpWithFullMemory
constexpr const char* kEnded = "0";        // the dump is written when the program ends because of the exception

class CrashFiles : public ::testing::Test {
 protected:
  CrashFiles() : path_(temporary_file("crash_files_test.dmp")) {}
  ~CrashFiles() override { remove_file(path_); }

  // Lets crashes.exe crash in this way. The dump is written when the exception of `code` is raised.
  void crash(const char* way, const char* code, const char* type) {
    const ProgramResult result =
        run_program({fixture("crashes.exe"), way, code, beside("write_minidump.exe"), path_, type}, 200'000);
    ASSERT_EQ(result.exit_code, 77u) << result.out << result.err;
  }
  ProgramResult dump(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {mixwalk_exe(), "dump", path_});
    ProgramResult result = run_program(options);
    EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::crash)) << result.err;
    return result;
  }
  std::string first_lines() const { return first_lines(dump().out); }
  static std::string first_lines(const std::string& out) {
    std::size_t end = 0;
    for (int line = 0; line < 5 && end != std::string::npos; ++line) end = out.find('\n', end == 0 ? 0 : end + 1);
    return out.substr(0, end);
  }

  std::string path_;
};

TEST_F(CrashFiles, AWriteInNativeCodeBelowAPInvoke) {
  crash("below", "c0000005", kStacksOnly);
  const std::string first = first_lines();
  EXPECT_THAT(first, HasSubstr("crash: access violation (0xc0000005): it wrote to 0x0, a null pointer\n"));
  EXPECT_THAT(first, HasSubstr(" at crashes_native.dll!crashes_write"));
}

TEST_F(CrashFiles, AFaultForWhichTheRuntimeEndsTheProgram) {
  crash("below", kEnded, kStacksOnly);
  const std::string out = dump().out, first = first_lines(out);
  EXPECT_THAT(first, HasSubstr("crash: access violation (0xc0000005): it wrote to 0x0, a null pointer\n"));
  EXPECT_THAT(first, HasSubstr(" at crashes_native.dll!crashes_write"));
  // The frames of the runtime's handlers are not shown.
  EXPECT_THAT(out, ContainsRegex("  crashed, .*\n  #0   N  crashes_native.dll!crashes_write"));
}

TEST_F(CrashFiles, FailFast) {
  crash("failfast", kEnded, kStacksOnly);
  const std::string first = first_lines();
  EXPECT_THAT(first, HasSubstr("crash: Environment.FailFast (0x80131623)\n"));
  EXPECT_THAT(first, HasSubstr("  thread 0x"));
}

TEST_F(CrashFiles, AStackOverflowIsFolded) {
  crash("overflow", "c00000fd", kStacksOnly);
  const std::string out = dump().out;
  const std::string first = first_lines(out);
  EXPECT_THAT(first, HasSubstr("crash: stack overflow (0xc00000fd)\n"));
  EXPECT_THAT(first, HasSubstr(" at crashes_native.dll!crashes_overflow"));
  EXPECT_THAT(out, HasSubstr("… the frame above repeats "));
  EXPECT_LT(std::ranges::count(out, '\n'), 500);
}

TEST_F(CrashFiles, AThrowOfCpp) {
  crash("cpp", "20474343", kStacksOnly);
  const std::string first = first_lines();
  EXPECT_THAT(first, HasSubstr("crash: unhandled C++ exception (0x20474343)\n"));
  EXPECT_THAT(first, HasSubstr("\n  called from crashes_native.dll!crashes_throw"));
}

TEST_F(CrashFiles, ACallIntoADllThatWasUnloaded) {
  crash("freed", "c0000005", kStacksOnly);
  const std::string first = first_lines();
  EXPECT_THAT(first, HasSubstr("crash: access violation (0xc0000005): it executed 0x"));
  EXPECT_THAT(first, HasSubstr("\n  called from crashes_native.dll!crashes_call_freed"));
}

TEST_F(CrashFiles, AnUnhandledExceptionWithTwoInnerOnes) {
  crash("unhandled", "e0434352", kWholeMemory);
  const std::string first = first_lines();
  EXPECT_THAT(first, HasSubstr("crash: unhandled .NET exception (0xe0434352)\n"
                               "  Crashes.OutOfStock: order 7 cannot be submitted\n"
                               "  thread 0x"));
  EXPECT_THAT(first, HasSubstr(" at kernelbase.dll!RaiseException"));
  EXPECT_THAT(first, HasSubstr("\n  called from Crashes.Program.Submit()"));
  const Json objects = Json::parse(dump({"-f", "json"}).out)["crash"]["objects"];
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects[1]["type"], "System.InvalidOperationException");
  EXPECT_EQ(objects[1]["message"], "nothing can be reserved");
  EXPECT_EQ(objects[2]["type"], "System.IO.IOException");
  EXPECT_EQ(objects[2]["trace"], Json({"Crashes.Program.Reserve()"}));
  const ProgramResult report = run_program({mixwalk_exe(), "report", path_});
  EXPECT_EQ(report.exit_code, static_cast<DWORD>(ExitCode::crash)) << report.err;
  EXPECT_THAT(report.out, HasSubstr(" crashed: unhandled .NET exception (0xe0434352)\n"));
}

}  // namespace
}  // namespace mixwalk
