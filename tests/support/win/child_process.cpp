#include "tests/support/win/child_process.h"

#include <tlhelp32.h>

#include <algorithm>
#include <cstdio>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "tests/support/utf8_path.h"
#include "unmanaged/win/module_path.h"
#include "unmanaged/win/utf8.h"
#include "walker/session/windows_arguments.h"

namespace mixwalk {
namespace {

// Whether a program has been silent for too long: half of the time that its case may take.
bool too_long(ULONGLONG silent_ms) {
  const auto limit = case_limit();
  return limit && std::chrono::milliseconds(silent_ms) > *limit / 2;
}

struct Pipe {
  UniqueHandle read, write;
};

// Which end of the pipe the child inherits.
enum class Inherited { read, write };
Pipe make_pipe(Inherited inherited) {
  SECURITY_ATTRIBUTES security{sizeof security, nullptr, TRUE};
  HANDLE read = nullptr, write = nullptr;
  if (!CreatePipe(&read, &write, &security, 0)) std::abort();
  SetHandleInformation(inherited == Inherited::read ? write : read, HANDLE_FLAG_INHERIT, 0);
  return {UniqueHandle(read), UniqueHandle(write)};
}

// Returns a job whose processes are all ended when this program ends, however it ends: a test that ctest ends leaves no
// program behind that keeps the machine busy.
HANDLE own_job() {
  static const HANDLE job = [] {
    const HANDLE made = CreateJobObjectW(nullptr, nullptr);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    SetInformationJobObject(made, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return made;
  }();
  return job;
}

// The mitigations of a program that is started. If none are requested, the list is not used, so that any system can
// start the program.
class Mitigations {
 public:
  explicit Mitigations(const DWORD64 (&bits)[2]) {
    if (bits[0] == 0 && bits[1] == 0) return;
    SIZE_T bytes = 0;
    InitializeProcThreadAttributeList(nullptr, 1, 0, &bytes);
    memory_.resize(bytes);
    const auto list = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(memory_.data());
    if (!InitializeProcThreadAttributeList(list, 1, 0, &bytes)) return;
    list_ = list;
    UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_MITIGATION_POLICY, const_cast<DWORD64*>(bits), sizeof bits,
                              nullptr, nullptr);
  }
  ~Mitigations() {
    if (list_ != nullptr) DeleteProcThreadAttributeList(list_);
  }
  Mitigations(const Mitigations&) = delete;
  Mitigations& operator=(const Mitigations&) = delete;

  LPPROC_THREAD_ATTRIBUTE_LIST list() const { return list_; }

 private:
  std::vector<std::byte> memory_;
  LPPROC_THREAD_ATTRIBUTE_LIST list_ = nullptr;
};

UniqueHandle start(const std::vector<std::string>& arguments, const StartOptions& options, HANDLE in, HANDLE out,
                   HANDLE err, DWORD& id) {
  std::wstring line = to_utf16(join_windows_arguments(arguments));
  const Mitigations mitigations(options.mitigations);
  STARTUPINFOEXW startup{.StartupInfo = {.cb = sizeof(STARTUPINFOW), .dwFlags = STARTF_USESTDHANDLES},
                         .lpAttributeList = mitigations.list()};
  STARTUPINFOW& plain = startup.StartupInfo;
  plain.hStdInput = in;
  plain.hStdOutput = out;
  plain.hStdError = err;
  DWORD flags = options.flags | CREATE_SUSPENDED;
  if (mitigations.list() != nullptr) {
    plain.cb = sizeof startup;
    flags |= EXTENDED_STARTUPINFO_PRESENT;
  }
  PROCESS_INFORMATION created{};
  const BOOL started = options.token == nullptr
                           ? CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, flags, nullptr, nullptr,
                                            &plain, &created)
                           : CreateProcessAsUserW(options.token, nullptr, line.data(), nullptr, nullptr, TRUE, flags,
                                                  nullptr, nullptr, &plain, &created);
  if (!started) {
    throw std::runtime_error("cannot start " + arguments.front() + ": error " + std::to_string(GetLastError()));
  }
  const UniqueHandle thread(created.hThread);
  UniqueHandle process(created.hProcess);
  // This is done before the program's first instruction, so that the programs that it starts are in the job as well.
  if (!AssignProcessToJobObject(own_job(), process.get())) {
    std::fprintf(stderr, "%s is in no job (error %lu): it may outlive its test\n", arguments.front().c_str(),
                 GetLastError());
  }
  if ((options.flags & CREATE_SUSPENDED) == 0) ResumeThread(thread.get());
  id = created.dwProcessId;
  return process;
}

// Reads until the pipe is closed, or until its program has ended and nothing is left in the pipe.
//
// Folklore: under Wine 8 the end of a program is not always the end of its output. The first program that needs a
// desktop (WinVerifyTrust does) starts explorer.exe, which inherits the Unix files behind the standard streams, and
// runs as long as any program on that desktop. (Seen: `dump` from outside, whose target was another program of the
// test.)
void read_all(HANDLE pipe, HANDLE process, std::string& into) {
  constexpr DWORD kLookMs = 5;
  char buffer[4096];
  while (true) {
    const bool ended = WaitForSingleObject(process, 0) == WAIT_OBJECT_0;
    DWORD waiting = 0, read = 0;
    if (!PeekNamedPipe(pipe, nullptr, 0, nullptr, &waiting, nullptr)) return;
    if (waiting == 0) {
      if (ended) return;
      WaitForSingleObject(process, kLookMs);
      continue;
    }
    if (!ReadFile(pipe, buffer, sizeof buffer, &read, nullptr) || read == 0) return;
    into.append(buffer, read);
  }
}

std::string own_folder() { return to_utf8(module_folder(nullptr)); }

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, DWORD flags)
    : ChildProcess(arguments, StartOptions{.flags = flags}) {}

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const StartOptions& options) {
  const ScopedEnvironment environment(options.environment);
  Pipe in = make_pipe(Inherited::read);
  Pipe out = make_pipe(Inherited::write);
  UniqueHandle err;
  if (!options.err_file.empty()) {
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    err = UniqueHandle(CreateFileW(to_utf16(options.err_file).c_str(), GENERIC_WRITE,
                                   FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, CREATE_ALWAYS, 0, nullptr));
  }
  process_ = start(arguments, options, in.read.get(), out.write.get(),
                   options.err_file.empty() ? GetStdHandle(STD_ERROR_HANDLE) : err.get(), id_);
  input_ = std::move(in.write);
  output_ = std::move(out.read);
  watched_.emplace(id_);
}

ChildProcess::~ChildProcess() { terminate(); }

// Reads only when bytes are there, because a program that hangs must not make its test hang.
bool ChildProcess::read_more() {
  const ULONGLONG begun = GetTickCount64();
  bool ended = false;
  for (DWORD available = 0; available == 0;) {
    if (!PeekNamedPipe(output_.get(), nullptr, 0, nullptr, &available, nullptr)) return false;
    if (available != 0) break;
    // A program that it has started may hold the pipe's other end for longer.
    if (ended) return false;
    const ULONGLONG waited = GetTickCount64() - begun;
    if (too_long(waited)) {
      report_hang("a program under test, silent for too long,", id_);
      return false;
    }
    ended = wait(waited < 100 ? 1 : 10).has_value();
  }
  char buffer[4096];
  DWORD read = 0;
  if (!ReadFile(output_.get(), buffer, sizeof buffer, &read, nullptr) || read == 0) return false;
  buffered_.append(buffer, read);
  return true;
}

std::optional<std::string> ChildProcess::read_line() {
  while (true) {
    const auto end = buffered_.find('\n');
    if (end != std::string::npos) {
      std::string line = buffered_.substr(0, end);
      buffered_.erase(0, end + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    if (!read_more()) return std::nullopt;
  }
}

std::string ChildProcess::read_rest() {
  while (read_more()) {
  }
  return std::move(buffered_);
}

void ChildProcess::write_line(const std::string& line) {
  const std::string text = line + "\n";
  DWORD written = 0;
  WriteFile(input_.get(), text.data(), static_cast<DWORD>(text.size()), &written, nullptr);
}

bool ChildProcess::running() const { return WaitForSingleObject(process_.get(), 0) == WAIT_TIMEOUT; }

void ChildProcess::terminate() {
  if (!running()) return;
  TerminateProcess(process_.get(), 99);
  WaitForSingleObject(process_.get(), 10'000);
}

std::optional<DWORD> ChildProcess::wait(DWORD milliseconds) const {
  DWORD code = 0;
  if (WaitForSingleObject(process_.get(), milliseconds) != WAIT_OBJECT_0 ||
      !GetExitCodeProcess(process_.get(), &code)) {
    return std::nullopt;
  }
  return code;
}

DWORD ChildProcess::handle_count() const {
  DWORD count = 0;
  GetProcessHandleCount(process_.get(), &count);
  return count;
}

namespace {

// If `out` is null, the output goes to a pipe that is read here.
ProgramResult run(const std::vector<std::string>& arguments, HANDLE into, DWORD timeout_ms) {
  Pipe in = make_pipe(Inherited::read);
  Pipe out = make_pipe(Inherited::write);
  Pipe err = make_pipe(Inherited::write);
  DWORD id = 0;
  const UniqueHandle process = start(
      arguments, StartOptions{}, in.read.get(), into != nullptr ? into : out.write.get(), err.write.get(), id);
  const WatchedChild watched(id);
  in = {};
  out.write.reset();
  err.write.reset();
  ProgramResult result;
  std::thread out_reader([&] { read_all(out.read.get(), process.get(), result.out); });
  std::thread err_reader([&] { read_all(err.read.get(), process.get(), result.err); });
  if (WaitForSingleObject(process.get(), timeout_ms) != WAIT_OBJECT_0) {
    report_hang(arguments.front(), id);
    TerminateProcess(process.get(), 98);
    WaitForSingleObject(process.get(), 10'000);
  }
  GetExitCodeProcess(process.get(), &result.exit_code);
  out_reader.join();
  err_reader.join();
  return result;
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments, DWORD timeout_ms) {
  return run(arguments, nullptr, timeout_ms);
}

ProgramResult run_until_let_in(const std::vector<std::string>& arguments, DWORD timeout_ms, TargetLocks locks) {
  constexpr DWORD kAlreadyProfiled = 5;
  std::vector<std::string> line = {mixwalk_exe()};
  line.insert(line.end(), arguments.begin(), arguments.end());
  if (arguments.front() == "dump") {
    line.insert(line.begin() + 2, "--inside");  // without this option, the dump may be made from outside
    if (locks == TargetLocks::left_out) line.insert(line.begin() + 2, "--no-locks");
  }
  ProgramResult result;
  const ULONGLONG end = GetTickCount64() + 10'000;
  do {
    result = run_program(line, timeout_ms);
  } while (result.exit_code == kAlreadyProfiled && GetTickCount64() < end);
  return result;
}

ProgramResult run_program_into(const std::vector<std::string>& arguments, HANDLE out) {
  return run(arguments, out, 60'000);
}

std::vector<std::uint32_t> children_of(DWORD process_id) {
  std::vector<std::uint32_t> children;
  const UniqueHandle all(CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  PROCESSENTRY32W entry{.dwSize = sizeof entry};
  for (BOOL more = Process32FirstW(all.get(), &entry); more; more = Process32NextW(all.get(), &entry)) {
    if (entry.th32ParentProcessID == process_id) children.push_back(entry.th32ProcessID);
  }
  return children;
}

std::vector<std::string> disabled_case(const std::string& name) {
  return {to_utf8(module_path(nullptr)), "--gtest_also_run_disabled_tests", "--gtest_filter=" + name};
}

std::string beside(const std::string& name) { return own_folder() + name; }
std::string mixwalk_exe() { return beside("mixwalk.exe"); }
std::string fixture(const std::string& name) { return beside("..\\fixtures\\" + name); }

int wanted(const char* variable, int ordinary, int least) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::max(least, std::atoi(text)) : ordinary;
}

bool is_stalled() { return std::getenv("MIXWALK_STALLED") != nullptr; }

std::string temporary_file(const std::string& name) {
  const std::string folder = own_folder() + "..\\test-files";
  CreateDirectoryW(to_utf16(folder).c_str(), nullptr);
  // Two tests that run at the same time in two Wine prefixes may have the same process id. (Seen: a dump that could not
  // be written, because another test had a file of that name open.)
  static const std::string unique = std::to_string(GetCurrentProcessId()) + "-" + std::to_string(GetTickCount64());
  return folder + "\\" + unique + "-" + name;
}

void remove_file(const std::string& path) { DeleteFileW(to_utf16(path).c_str()); }

}  // namespace mixwalk
