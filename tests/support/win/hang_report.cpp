#include "tests/support/win/hang_report.h"

#include <gtest/gtest.h>
#include <tlhelp32.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "unmanaged/win/module_path.h"
#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

constexpr DWORD kReportMs = 40'000;
constexpr UINT kHungCode = 97;

struct Children {
  std::mutex lock;
  std::vector<DWORD> ids;
};
Children& children() {
  static Children all;
  return all;
}

// On a machine without interactive access, only the log can show what hangs.
class CaseLimit : public testing::EmptyTestEventListener {
 public:
  explicit CaseLimit(std::chrono::seconds limit) : limit_(limit), watcher_([this] { watch(); }) {}
  ~CaseLimit() override {
    {
      const std::lock_guard guard(lock_);
      over_ = true;
    }
    changed_.notify_one();
    watcher_.join();
  }

 private:
  void OnTestStart(const testing::TestInfo& test) override {
    set(std::string(test.test_suite_name()) + "." + test.name());
  }
  void OnTestEnd(const testing::TestInfo&) override { set({}); }

  void set(std::string name) {
    {
      const std::lock_guard guard(lock_);
      name_ = std::move(name);
      ++cases_;
    }
    changed_.notify_one();
  }

  void watch() {
    std::unique_lock guard(lock_);
    while (!over_) {
      const int seen = cases_;
      const auto something_new = [&] { return over_ || cases_ != seen; };
      if (name_.empty()) {
        changed_.wait(guard, something_new);
      } else if (!changed_.wait_for(guard, limit_, something_new)) {
        end();
      }
    }
  }

  [[noreturn]] void end() {
    std::vector<DWORD> ids;
    {
      const std::lock_guard guard(children().lock);
      ids = children().ids;
    }
    // No debugger is run on this program itself: a debugger would stop this thread, and no thread would limit its time.
    // Real case: winedbg hung in its second line, until ctest's limit was over.
    std::fprintf(stderr, "%s hangs\n", name_.c_str());
    std::fflush(stderr);
    for (const DWORD id : ids) report_hang("a child of " + name_, id);
    TerminateProcess(GetCurrentProcess(), kHungCode);
    std::abort();
  }

  std::chrono::seconds limit_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::string name_;
  int cases_ = 0;
  bool over_ = false;
  std::thread watcher_;
};

std::vector<DWORD> threads_of(DWORD process_id) {
  std::vector<DWORD> ids;
  const UniqueHandle list(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0));
  THREADENTRY32 thread{.dwSize = sizeof thread};
  for (BOOL more = Thread32First(list.get(), &thread); more; more = Thread32Next(list.get(), &thread)) {
    if (thread.th32OwnerProcessID == process_id) ids.push_back(thread.th32ThreadID);
  }
  return ids;
}

// Runs a command line, for a limited time.
void run(const std::string& command, HANDLE out) {
  std::wstring line = to_utf16(command);
  STARTUPINFOW startup{.cb = sizeof startup, .dwFlags = STARTF_USESTDHANDLES};
  startup.hStdOutput = startup.hStdError = out;
  PROCESS_INFORMATION started{};
  if (!CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &startup, &started)) {
    std::fprintf(stderr, "not started: %s\n", command.c_str());
    return;
  }
  const UniqueHandle process(started.hProcess), thread(started.hThread);
  if (WaitForSingleObject(process.get(), kReportMs) != WAIT_OBJECT_0) TerminateProcess(process.get(), kHungCode);
}

// Folklore: "bt all" stops every process of the prefix, also Wine's services; from then on COM between apartments
// failed. Remedy: the commands name each thread of the one process.
void run_debugger(DWORD process_id, const std::string& commands, HANDLE out) {
  {
    std::ofstream file(commands);
    for (const DWORD id : threads_of(process_id)) file << "bt 0x" << std::hex << id << "\n";
    file << "detach\nquit\n";
  }
  run("winedbg --file \"" + commands + "\" " + std::to_string(process_id), out);
}

// Appended before main; from then on GoogleTest owns the listener.
const bool kAppended = [] {
  if (const auto limit = case_limit()) {
    testing::UnitTest::GetInstance()->listeners().Append(new CaseLimit(*limit));
  }
  return true;
}();

}  // namespace

std::optional<std::chrono::seconds> case_limit() {
  const char* text = std::getenv("MIXWALK_CASE_LIMIT");
  const int seconds = text != nullptr ? std::atoi(text) : 0;
  if (seconds <= 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

void report_hang(std::string_view what, DWORD process_id) {
  std::fprintf(stderr, "%.*s hangs: process %lu\n", static_cast<int>(what.size()), what.data(),
               process_id);
  std::fflush(stderr);
  const std::string commands =
      (std::filesystem::temp_directory_path() / ("hang-" + std::to_string(process_id) + ".txt"))
          .string();
  const HANDLE out = GetStdHandle(STD_ERROR_HANDLE);
  const std::string mixwalk = to_utf8(module_folder(nullptr)) + "mixwalk.exe";
  run("\"" + mixwalk + "\" dump --outside --no-locks -p " + std::to_string(process_id), out);
  run_debugger(process_id, commands, out);
  std::remove(commands.c_str());
}

WatchedChild::WatchedChild(DWORD process_id) : process_id_(process_id) {
  const std::lock_guard guard(children().lock);
  children().ids.push_back(process_id_);
}

WatchedChild::~WatchedChild() {
  const std::lock_guard guard(children().lock);
  std::erase(children().ids, process_id_);
}

}  // namespace mixwalk
