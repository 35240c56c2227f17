#pragma once

#include <windows.h>

#include <optional>
#include <string>
#include <vector>

#include "unmanaged/win/unique_handle.h"

namespace mixwalk {

// A program under test, with pipes on its standard streams. It is ended, by its own handle, when
// this goes away.
class ChildProcess {
 public:
  // `arguments`: the program first. Aborts the test program when it cannot be started.
  // `flags`: of CreateProcess.
  explicit ChildProcess(const std::vector<std::string>& arguments, DWORD flags = 0);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The next line of its standard output, without the line end; nothing once it is closed.
  std::optional<std::string> read_line();
  // Everything else that it says, until it closes its output.
  std::string read_rest();
  void write_line(const std::string& line);
  void close_input() { input_.reset(); }

  bool running() const;
  void terminate();
  // Nothing: it is still running after that time.
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
};

struct ProgramResult {
  DWORD exit_code = 0;
  std::string out;
  std::string err;
};
// Runs a program to its end, or for so long; both streams are kept apart.
ProgramResult run_program(const std::vector<std::string>& arguments, DWORD timeout_ms = 60'000);
// The same, its standard output going to a handle, which must be inheritable.
ProgramResult run_program_into(const std::vector<std::string>& arguments, HANDLE out);

// mixwalk.exe of this build, and a program of fixtures/.
std::string mixwalk_exe();
std::string fixture(const std::string& name);
// A file name in a folder for this test run's own files.
std::string temporary_file(const std::string& name);

}  // namespace mixwalk
