// Runs the tests of the bundle for Windows, one after another, and writes a report that the user can send in.
// usage: run_tests [--bundle FOLDER] [TEXT…]
// With TEXT, only the tests whose names contain one of these texts are run. Exit codes: 0 if none of these tests
// failed, 1 if one failed, 2 if there is nothing to run. If all cases of a test need something that this machine lacks,
// the test neither failed nor passed.

#include <windows.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "tests/support/utf8_path.h"
#include "tests/support/win/wine.h"
#include "tests/tools/bundle/system_description.h"
#include "tests/tools/bundle/test_output.h"
#include "tests/tools/bundle/timed_program.h"
#include "tests/tools/bundle/windows_answers.h"
#include "unmanaged/win/module_path.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kReport = "test-report.txt";
// The report contains this much of a failing test's output, from its end.
constexpr std::size_t kReportedBytes = 200'000;

HANDLE g_interrupt = nullptr;  // set by Ctrl-C

BOOL WINAPI on_control(DWORD) {
  SetEvent(g_interrupt);
  return TRUE;
}

struct Test {
  std::string name;
  TimedProgram program;
  std::map<std::string, std::string> environment;
  bool of_googletest = false;
};

struct Result {
  std::string name;
  TimedResult run;
  TestOutput cases;
  std::string text;  // the output of a test that failed
  // A program that does not use GoogleTest says only by its exit code whether it has passed.
  bool succeeded() const {
    const bool came_to_its_end = !cases.of_googletest || (cases.whole && cases.failed == 0);
    return run.end == TimedResult::End::ended && run.code == 0 && came_to_its_end;
  }
  // Each of its cases was skipped, or there is none.
  bool not_run() const { return succeeded() && cases.of_googletest && cases.passed == 0; }
  bool passed() const { return succeeded() && !not_run(); }
};

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Writes a line to the console and to the report. The console may have any code page; the report is UTF-8.
class Report {
 public:
  explicit Report(const fs::path& path) : file_(path, std::ios::binary) {
    if (!file_) throw std::runtime_error("cannot write " + utf8_text(path));
  }
  void both(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    only_file(line);
  }
  void only_file(const std::string& line) { file_ << line << "\r\n" << std::flush; }

 private:
  std::ofstream file_;
};

std::string seconds(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(time.count()) / 1000);
  return text;
}

std::string outcome(const Result& result, std::chrono::seconds limit) {
  using End = TimedResult::End;
  char code[32];
  std::snprintf(code, sizeof code, "%#lx", result.run.code);
  switch (result.run.end) {
    case End::not_started: return std::string("FAILED: it cannot be started, error ") + code;
    case End::too_long: return "FAILED: it took longer than " + std::to_string(limit.count()) + " s";
    case End::interrupted: return "FAILED: interrupted";
    case End::ended: break;
  }
  if (result.succeeded()) {
    std::string text = (result.not_run() ? "not run, " : "passed, ") + seconds(result.run.time);
    if (result.cases.passed > 0) text += ", cases: " + std::to_string(result.cases.passed);
    if (!result.cases.not_run.empty()) text += ", not run: " + std::to_string(result.cases.not_run.size());
    return text;
  }
  const bool cut = result.cases.of_googletest && !result.cases.whole;
  return std::string("FAILED with code ") + code + ", " + seconds(result.run.time) +
         (cut ? ", before its last case" : "");
}

// Tests read some files by narrow functions, for example in GoogleTest's temporary folder; their paths must not depend
// on the code page.
void use_plain_temporary_folder() {
  WCHAR folder[MAX_PATH + 1] = {}, plain[MAX_PATH + 1] = {};
  if (GetTempPathW(MAX_PATH, folder) == 0 || GetShortPathNameW(folder, plain, MAX_PATH) == 0) return;
  SetEnvironmentVariableW(L"TEMP", plain);
  SetEnvironmentVariableW(L"TMP", plain);
}

// A filter or a shard that the user has set would leave out cases, which would then count as passed. A test that
// crashes must not show a dialog box that waits for a person.
void forget_the_users_settings() {
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
  std::vector<std::wstring> names;
  WCHAR* const all = GetEnvironmentStringsW();
  for (const WCHAR* at = all; *at != 0; at += wcslen(at) + 1) {
    const std::wstring_view entry(at);
    // The C library looks names up regardless of case. GoogleTest also accepts the last name for a filter.
    const bool is_googletests = _wcsnicmp(at, L"GTEST_", 6) == 0 || _wcsnicmp(at, L"TESTBRIDGE_TEST_ONLY=", 21) == 0;
    if (is_googletests) names.emplace_back(entry.substr(0, entry.find(L'=')));
  }
  FreeEnvironmentStringsW(all);
  for (const std::wstring& name : names) SetEnvironmentVariableW(name.c_str(), nullptr);
}

std::vector<Test> listed_tests(const Json& list, const fs::path& bundle, const std::vector<std::string>& wanted) {
  std::vector<Test> tests;
  for (const Json& entry : list.at("tests")) {
    Test test{.name = entry.at("name"),
              .program = {},
              .environment = entry.value("environment", decltype(Test::environment){}),
              .of_googletest = entry.value("googletest", false)};
    const auto is_in_name = [&](const std::string& text) { return test.name.find(text) != std::string::npos; };
    if (!wanted.empty() && std::none_of(wanted.begin(), wanted.end(), is_in_name)) continue;
    test.program.command = entry.at("command").get<std::vector<std::string>>();
    test.program.command.front() = utf8_text(bundle / utf8_path(test.program.command.front()).make_preferred());
    test.program.folder = utf8_text(bundle / "work");
    test.program.output = utf8_text(bundle / "work" / (test.name + ".txt"));
    test.program.limit = std::chrono::seconds(entry.at("seconds").get<int>());
    tests.push_back(std::move(test));
  }
  return tests;
}

Result run_test(const Test& test) {
  for (const auto& [name, value] : test.environment) {
    SetEnvironmentVariableW(to_utf16(name).c_str(), to_utf16(value).c_str());
  }
  Result result{.name = test.name, .run = run_timed(test.program, g_interrupt), .cases = {}, .text = {}};
  for (const auto& [name, value] : test.environment) SetEnvironmentVariableW(to_utf16(name).c_str(), nullptr);
  const std::string text = text_of(utf8_path(test.program.output));
  result.cases = read_test_output(text);
  // This is done even if the program has written nothing.
  result.cases.of_googletest |= test.of_googletest;
  if (!result.succeeded()) {
    const bool cut = text.size() > kReportedBytes;
    result.text = (cut ? "(its end; all of it is in work\\" + test.name + ".txt)\n" : "") +
                  text.substr(cut ? text.size() - kReportedBytes : 0);
  }
  return result;
}

void write_not_for_windows(Report& report, const std::vector<Result>& results) {
  bool first = true;
  for (const Result& result : results) {
    for (const SkippedCase& skipped : result.cases.not_for_windows) {
      if (std::exchange(first, false)) report.only_file("\r\nCases that are not for Windows:");
      report.only_file("  " + result.name + ": " + skipped.name + ": " + skipped.why);
    }
  }
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", std::gmtime(&time));
  return text;
}

// Returns 0 if no test failed, 1 if one did.
int run_all(const fs::path& bundle, const Json& list, const std::vector<Test>& tests) {
  Report report(bundle / kReport);
  report.both("mixwalk " + list.at("version").get<std::string>() + ", tests of commit " +
              list.at("commit").get<std::string>());
  report.only_file(now());
  report.both(system_description());
  report.only_file(windows_answers());
  std::vector<Result> results;
  std::size_t passed = 0, not_run = 0, other_cases = 0, cases_not_run = 0;
  for (const Test& test : tests) {
    if (WaitForSingleObject(g_interrupt, 0) == WAIT_OBJECT_0) break;
    std::printf("%zu/%zu %s\n", results.size() + 1, tests.size(), test.name.c_str());
    std::fflush(stdout);
    const Result& result = results.emplace_back(run_test(test));
    passed += result.passed();
    not_run += result.not_run();
    other_cases += result.cases.not_for_windows.size();
    cases_not_run += result.cases.not_run.size();
    report.both("  " + test.name + ": " + outcome(result, test.program.limit));
    for (const SkippedCase& skipped : result.cases.not_run) {
      report.both("    not run: " + skipped.name + ": " + skipped.why);
    }
  }
  write_not_for_windows(report, results);
  report.only_file("\r\nTests that are not for Windows:");
  for (const auto& [name, why] : list.at("not_for_windows").items()) {
    report.only_file("  " + name + ": " + why.get<std::string>());
  }
  for (const Result& result : results) {
    if (!result.succeeded()) report.only_file("\r\n==== output of " + result.name + "\r\n" + result.text);
  }
  report.only_file("");
  report.both(std::to_string(list.at("not_for_windows").size()) + " tests and " + std::to_string(other_cases) +
              " cases not for Windows");
  report.both(std::to_string(not_run) + " tests and " + std::to_string(cases_not_run) +
              " cases not run: this machine lacks what they need");
  // A test that was not run because the run was interrupted counts as failed.
  const std::size_t missed = tests.size() - results.size(), failed = tests.size() - passed - not_run;
  if (missed != 0) report.both("interrupted: " + std::to_string(missed) + " tests did not come to their turn");
  std::printf("The report, to be sent in: %s\n", utf8_text(bundle / kReport).c_str());
  report.both(std::to_string(passed) + " passed, " + std::to_string(failed) + " failed");
  return failed == 0 ? 0 : 1;
}

// If Explorer opened the window for the script, the window closes when the script ends. (In that case, cmd.exe has set
// no PROMPT.)
void wait_for_reader() {
  DWORD mode = 0;
  if (std::getenv("PROMPT") != nullptr || under_wine()) return;
  if (!GetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), &mode) || std::getenv("CI") != nullptr) return;
  std::printf("Press Enter to close this window.\n");
  std::getchar();
}

int run(const std::vector<std::string>& arguments) {
  fs::path bundle = fs::path(module_folder(nullptr)).parent_path().parent_path();
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--bundle" && i + 1 < arguments.size()) {
      bundle = fs::absolute(utf8_path(arguments[++i]));
    } else if (arguments[i].starts_with("-")) {
      throw std::runtime_error("usage: run-tests.cmd [TEXT...]\nTEXT: only tests whose names contain one of these");
    } else {
      wanted.push_back(arguments[i]);
    }
  }
  const Json list = Json::parse(text_of(bundle / "tests.json"));
  const std::vector<Test> tests = listed_tests(list, bundle, wanted);
  if (tests.empty()) throw std::runtime_error("no test has such a name");
  fs::create_directories(bundle / "work");
  g_interrupt = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  SetConsoleCtrlHandler(&on_control, TRUE);
  use_plain_temporary_folder();
  forget_the_users_settings();
  return run_all(bundle, list, tests);
}

}  // namespace
}  // namespace mixwalk

int wmain(int count, wchar_t** values) {
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(mixwalk::to_utf8(values[i]));
  int code = 2;
  try {
    code = mixwalk::run(arguments);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "run_tests: %s\n", problem.what());
  }
  mixwalk::wait_for_reader();
  return code;
}
