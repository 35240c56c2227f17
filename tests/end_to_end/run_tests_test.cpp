// Runs run_tests.exe on bundles of programs of the system.

#include <gtest/gtest.h>
#include <windows.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/remove_tree.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/scoped_environment.h"
#include "tests/tools/bundle/test_output.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class RunTests : public testing::Test {
 protected:
  ~RunTests() override { EXPECT_TRUE(remove_tree(folder_)); }

  void add(const std::string& name, const std::vector<std::string>& cmd, int seconds = 60) {
    std::vector<std::string> command = {"C:\\windows\\system32\\cmd.exe", "/c"};
    command.insert(command.end(), cmd.begin(), cmd.end());
    list_["tests"].push_back(
        {{"name", name}, {"command", command}, {"seconds", seconds}, {"environment", {{"GREETING", "hello"}}}});
  }
  ProgramResult run(const std::vector<std::string>& names = {}) {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "tests.json") << list_;
    std::vector<std::string> line = {beside("run_tests.exe"), "--bundle", utf8_text(folder_)};
    line.insert(line.end(), names.begin(), names.end());
    return run_program(line);
  }
  std::string report() const { return file_text(utf8_text(folder_ / "test-report.txt")); }

  const fs::path folder_ = utf8_path(temporary_file("a bundle \u00fc"));
  Json list_ = {{"version", "1.2.3"},
                {"commit", "abc"},
                {"tests", Json::array()},
                {"not_for_windows", {{"of_the_build", "looks at archives"}}}};
};

TEST_F(RunTests, AllPass) {
  add("first", {"exit", "0"});
  add("second", {"if", "not", "%GREETING%==hello", "exit", "4"});
  const ProgramResult result = run();
  EXPECT_EQ(result.exit_code, 0u) << result.out << result.err;
  EXPECT_TRUE(result.out.ends_with("2 passed, 0 failed\r\n")) << result.out;
  EXPECT_TRUE(report().ends_with("2 passed, 0 failed\r\n")) << report();
  for (const char* text :
       {"mixwalk 1.2.3", "commit abc", "System:         Windows ", "of_the_build: looks at archives",
        "  patched system calls: none\n", "  a step of GetTickCount64: ",
        "  the suspend count of a thread that was suspended twice: 2\n", "1 tests and 0 cases not for Windows"}) {
    EXPECT_NE(report().find(text), std::string::npos) << text << " is not in\n" << report();
  }
}

TEST_F(RunTests, OneFailsAndWhatItWroteIsReported) {
  add("good", {"exit", "0"});
  add("bad", {"echo", "something", "is", "wrong", "&", "exit", "3"});
  const ProgramResult result = run();
  EXPECT_EQ(result.exit_code, 1u);
  EXPECT_TRUE(result.out.ends_with("1 passed, 1 failed\r\n")) << result.out;
  EXPECT_NE(report().find("bad: FAILED with code 0x3"), std::string::npos) << report();
  EXPECT_NE(report().find("==== output of bad\r\nsomething is wrong"), std::string::npos) << report();
}

TEST_F(RunTests, OneTakesTooLongAndIsEnded) {
  list_["tests"].push_back({{"name", "slow"},
                            {"command", {"C:\\windows\\system32\\ping.exe", "-n", "30", "127.0.0.1"}},
                            {"seconds", 1}});
  const ProgramResult result = run();
  EXPECT_EQ(result.exit_code, 1u);
  EXPECT_NE(result.out.find("slow: FAILED: it took longer than 1 s"), std::string::npos) << result.out;
}

TEST_F(RunTests, OneCannotBeStarted) {
  list_["tests"].push_back({{"name", "gone"}, {"command", {"bin/gone.exe"}}, {"seconds", 60}});
  const ProgramResult result = run();
  EXPECT_EQ(result.exit_code, 1u);
  EXPECT_NE(result.out.find("gone: FAILED: it cannot be started, error 0x"), std::string::npos) << result.out;
}

TEST_F(RunTests, OneThatSaysThatItDidNotRunHasNotPassed) {
  add("good", {"exit", "0"});
  add("needy", {"type", "..\\needy.txt"});
  fs::create_directories(folder_);
  std::ofstream(folder_ / "needy.txt") << "[ RUN      ] A.One\na.cpp:7: Skipped\nno such processor\n\n"
                                          "[  SKIPPED ] A.One (0 ms)\n"
                                          "[==========] 1 test from 1 test suite ran. (0 ms total)\n";
  const ProgramResult result = run();
  EXPECT_EQ(result.exit_code, 0u) << result.out;
  for (const char* text : {"needy: not run, ", "    not run: A.One: no such processor",
                           "1 tests and 1 cases not run: this machine lacks what they need"}) {
    EXPECT_NE(result.out.find(text), std::string::npos) << text << " is not in\n" << result.out;
    EXPECT_NE(report().find(text), std::string::npos) << text << " is not in\n" << report();
  }
  EXPECT_TRUE(result.out.ends_with("1 passed, 0 failed\r\n")) << result.out;
}

TEST_F(RunTests, AnOutputWithoutItsEndOrWithAFailedCaseHasNotPassed) {
  fs::create_directories(folder_);
  const auto writes = [&](const std::string& name, const std::string& text) {
    add(name, {"type", "..\\" + name + ".txt"});
    std::ofstream(folder_ / (name + ".txt")) << text;
  };
  writes("cut", "[==========] Running 2 tests from 1 test suite.\n[       OK ] A.One (0 ms)\n");
  writes("failed", "[  FAILED  ] A.One (0 ms)\n[==========] 1 test from 1 test suite ran. (3 ms total)\n");
  writes("none", "[==========] 0 tests from 0 test suites ran. (3 ms total)\n");
  const ProgramResult result = run();
  EXPECT_EQ(result.exit_code, 1u);
  EXPECT_TRUE(result.out.ends_with("0 passed, 2 failed\r\n")) << result.out;
  EXPECT_NE(result.out.find("  none: not run, "), std::string::npos) << result.out;
}

TEST_F(RunTests, ATestOfGoogleTestThatWritesNothingHasNotPassed) {
  add("silent", {"exit", "0"});
  list_["tests"].back()["googletest"] = true;
  const ProgramResult result = run();
  EXPECT_EQ(result.exit_code, 1u);
  EXPECT_NE(result.out.find("silent: FAILED with code 0, "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(", before its last case"), std::string::npos) << result.out;
}

TEST_F(RunTests, TheUsersFilterLeavesNoCaseOut) {
  add("filter", {"if", "defined", "GTEST_FILTER", "exit", "3"});
  const ScopedEnvironment filter(Environment{{"gtest_filter", "Nothing.*"}});
  const ProgramResult result = run();
  EXPECT_TRUE(result.out.ends_with("1 passed, 0 failed\r\n")) << result.out;
}

TEST_F(RunTests, OnlyThoseOfAName) {
  add("good_test", {"exit", "0"});
  add("bad_test", {"exit", "3"});
  EXPECT_EQ(run({"good"}).exit_code, 0u);
  const ProgramResult none = run({"no_such"});
  EXPECT_EQ(none.exit_code, 2u);
  EXPECT_EQ(none.err, "run_tests: no test has such a name\r\n");
}

TEST(TestOutputTest, CountsCasesAndSaysWhySomeWereSkipped) {
  const TestOutput output = read_test_output(
      "[ RUN      ] A.One\r\n[       OK ] A.One (3 ms)\r\n"
      "[ RUN      ] A.Two\r\na.cpp:7: Skipped\r\nno console here\r\n\r\n[  SKIPPED ] A.Two (0 ms)\r\n"
      "[ RUN      ] A.Three\r\na.cpp:9: Skipped\r\nnot for Windows: a device of Wine\r\n\r\n"
      "[  SKIPPED ] A.Three (0 ms)\r\n"
      "[ RUN      ] A.Four\r\na.cpp:11: Failure\r\nfalse\r\n[  FAILED  ] A.Four, where GetParam() = 3 (1 ms)\r\n"
      "[  PASSED  ] 1 test.\r\n[  SKIPPED ] 2 tests, listed below:\r\n[  SKIPPED ] A.Two\r\n"
      "[  FAILED  ] 1 test, listed below:\r\n[  FAILED  ] A.Four, where GetParam() = 3\r\n");
  EXPECT_EQ(output.passed, 1);
  EXPECT_EQ(output.failed, 1);
  ASSERT_EQ(output.not_run.size(), 1u);
  EXPECT_EQ(output.not_run[0].name, "A.Two");
  EXPECT_EQ(output.not_run[0].why, "no console here");
  ASSERT_EQ(output.not_for_windows.size(), 1u);
  EXPECT_EQ(output.not_for_windows[0].name, "A.Three");
  EXPECT_EQ(output.not_for_windows[0].why, "a device of Wine");
}

}  // namespace
}  // namespace mixwalk
