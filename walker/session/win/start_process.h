#pragma once

#include <windows.h>

#include <string>
#include <vector>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/failure.h"

namespace mixwalk {

// A process that mixwalk.exe has started. Not frozen-safe, as everything here.
struct StartedProcess {
  UniqueHandle process, thread;  // null if it could not be started
  DWORD id = 0;
  DWORD error = 0;  // why it could not be started
};

// CreateProcess. `program`: null if the system is to look for the first word of the command line. `environment`: null
// for that of this process. The process inherits all handles that can be inherited, unless `startup` has a list of
// them.
StartedProcess start_process(const wchar_t* program, std::wstring command_line, DWORD flags, wchar_t* environment,
                             STARTUPINFOW& startup);

// A second mixwalk.exe, for a hidden command: "mixwalk.exe COMMAND HANDLE…".
struct Helper {
  std::string name;     // for failures: "worker"
  std::string command;
  std::vector<HANDLE> arguments;  // can be inherited; the helper gets their values in hexadecimal
  HANDLE also = nullptr;          // one more handle that it inherits; may be null
  SIZE_T max_bytes = 0;           // of its memory; 0: no limit
  bool outlives_us = false;       // once it runs, the end of this process does not end it
};
struct StartedHelper {
  UniqueHandle job, process;  // the helper ends when the job's handle is closed, unless it outlives us
  DWORD id = 0;
};
// Starts a helper. It inherits no other handle, and has no console: Ctrl-C is for mixwalk.exe. However this process
// ends meanwhile, the helper does not stay (handle_list.h). `program`: the path of mixwalk.exe.
Outcome<StartedHelper> start_helper(const std::wstring& program, const Helper& helper);

// In the helper: the handle that an argument says. Returns null if the text is not one.
UniqueHandle inherited_handle(const std::string& text);

}  // namespace mixwalk
