#pragma once

#include <windows.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/win/hang_report.h"
#include "tests/support/win/scoped_environment.h"
#include "unmanaged/win/unique_handle.h"

namespace mixwalk {

// The options with which a program under test is started.
struct StartOptions {
  DWORD flags = 0;            // of CreateProcess
  HANDLE token = nullptr;     // the program's rights; null for those of this program
  DWORD64 mitigations[2]{};   // PROC_THREAD_ATTRIBUTE_MITIGATION_POLICY
  Environment
      environment{};  // variables that this program does not have; not for use while other threads start programs
  std::string err_file{};     // the path of the file for the standard error; if empty, it is that of this program
};

// A program under test, with pipes on its standard streams. The destructor ends the program, by its own handle. When
// the test program ends, however it ends, the program and everything that it has started are ended too.
class ChildProcess {
 public:
  // `arguments` has the program first. Throws std::runtime_error if the program cannot be started.
  explicit ChildProcess(const std::vector<std::string>& arguments, DWORD flags = 0);
  ChildProcess(const std::vector<std::string>& arguments, const StartOptions& options);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Returns the next line of the program's standard output, without the line end. Returns nothing once the output is
  // closed, or when the program has been silent for half of case_limit (then its stacks go to standard error).
  std::optional<std::string> read_line();
  // Returns all further output, until the program ends or closes its output.
  std::string read_rest();
  void write_line(const std::string& line);
  void close_input() { input_.reset(); }

  bool running() const;
  void terminate();
  // Returns nothing if the program is still running after that time.
  std::optional<DWORD> wait(DWORD milliseconds) const;
  DWORD id() const noexcept { return id_; }
  HANDLE handle() const noexcept { return process_.get(); }
  DWORD handle_count() const;

 private:
  bool read_more();

  UniqueHandle process_;
  UniqueHandle input_;
  UniqueHandle output_;
  std::string buffered_;
  DWORD id_ = 0;
  std::optional<WatchedChild> watched_;
};

struct ProgramResult {
  DWORD exit_code = 0;
  std::string out;
  std::string err;
};
// Runs a program to its end, or for at most this time. The two streams are kept apart.
ProgramResult run_program(const std::vector<std::string>& arguments, DWORD timeout_ms = 60'000);
enum class TargetLocks { left_out, looked_for };
// Runs mixwalk.exe with these arguments. As long as an earlier visitor is just leaving the target (exit code 5), it is
// run again, for 10 s, so this also tests that the visitor leaves in time. A dump is one from inside. `locks` says
// whether the target's locks are looked for; by default they are not, since most tests are about stacks.
ProgramResult run_until_let_in(const std::vector<std::string>& arguments, DWORD timeout_ms = 60'000,
                               TargetLocks locks = TargetLocks::left_out);
// Like run_program, but the standard output goes to a handle, which must be inheritable.
ProgramResult run_program_into(const std::vector<std::string>& arguments, HANDLE out);

// Returns the command line of a child that runs one disabled case of this test program, "Suite.DISABLED_Name", and
// nothing else: a program under test that needs no file of its own.
//
// Folklore: GoogleTest's death tests start the test program by its path in the system's code page, which lacks letters
// of other languages. Real case: in the folder "try tests ü試" of tests/tools/try-tests, guarded_test ended with code
// 3. Remedy: a case that must end its program is disabled, and its test starts it by this command line. Test:
// `tests/tools/try-tests guarded`.
std::vector<std::string> disabled_case(const std::string& name);
// Return the path of a file beside mixwalk.exe of this build, of mixwalk.exe itself, and of a program of fixtures/.
std::string beside(const std::string& name);
std::string mixwalk_exe();
std::string fixture(const std::string& name);
// Returns the ids of the live processes that this process has started.
std::vector<std::uint32_t> children_of(DWORD process_id);
// Returns how much of a test is run: the value of the environment variable, but at least `least`; without the variable,
// `ordinary`.
int wanted(const char* variable, int ordinary, int least);
// Whether tests/tools/stall runs this test. Then threads and processes stand still for seconds, and there may be few
// samples.
bool is_stalled();
// Returns a file name in a folder for this test run's own files, in UTF-8.
std::string temporary_file(const std::string& name);
// Removes a file if it exists; its path is in UTF-8.
void remove_file(const std::string& path);

}  // namespace mixwalk
