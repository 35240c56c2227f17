#pragma once

#include <windows.h>
// windows.h must come first:
#include <dbghelp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/win/child_process.h"
#include "walker/outside/writing/minidump_writer.h"
#include "walker/outside/writing/process_snapshot.h"

namespace mixwalk {

// Stands for the system's functions that clone a process, which Wine does not have. The clone is another program, which
// waits. What the functions are called with is kept, and one of them fails if a test wants it. Must outlive the writer.
class FakeSnapshots {
 public:
  WriterHooks hooks() {
    WriterHooks hooks;
    hooks.snapshots.capture = [this](HANDLE process, DWORD what, DWORD registers, HANDLE* snapshot) {
      calls.push_back("capture");
      captured_id = GetProcessId(process);
      captured_what = what;
      captured_registers = registers;
      if (while_capturing) while_capturing();
      if (capture_error == ERROR_SUCCESS) *snapshot = kSnapshot;
      return capture_error;
    };
    hooks.snapshots.query = [this](HANDLE snapshot, int what, void* buffer, DWORD bytes) -> DWORD {
      calls.push_back("query");
      if (snapshot != kSnapshot || what != 1 || bytes != sizeof(HANDLE)) return ERROR_INVALID_PARAMETER;
      *static_cast<HANDLE*>(buffer) = named_clone != nullptr ? named_clone : clone.handle();
      return query_error;
    };
    hooks.snapshots.free = [this](HANDLE process, HANDLE snapshot) -> DWORD {
      calls.push_back("free");
      clone_ended_before_free = !clone.running();
      return process == GetCurrentProcess() && snapshot == kSnapshot ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
    };
    hooks.snapshots.memory_left = [this] { return memory_left; };
    hooks.snapshots.memory_of = [this](HANDLE) { return memory_of; };
    hooks.write_clone = [this](HANDLE snapshot, DWORD id, HANDLE file, MINIDUMP_TYPE type,
                               PMINIDUMP_USER_STREAM_INFORMATION streams, PMINIDUMP_CALLBACK_INFORMATION callback) {
      calls.push_back("write");
      written_type = type;
      // MiniDumpWriteDump asks this before anything else.
      const bool is_clone = answer(*callback, kIsProcessSnapshot).Status == S_FALSE;
      if (snapshot != kSnapshot || !is_clone) {
        SetLastError(ERROR_INVALID_HANDLE);
        return FALSE;
      }
      return write(id, file, streams, *callback);
    };
    return hooks;
  }

  // What the writer's callback says to a question.
  static MINIDUMP_CALLBACK_OUTPUT answer(const MINIDUMP_CALLBACK_INFORMATION& callback, ULONG question) {
    MINIDUMP_CALLBACK_INPUT input{};
    MINIDUMP_CALLBACK_OUTPUT output{};
    input.CallbackType = question;
    callback.CallbackRoutine(callback.CallbackParam, &input, &output);
    return output;
  }

  static constexpr ULONG kIsProcessSnapshot = 16;
  static inline const HANDLE kSnapshot = reinterpret_cast<HANDLE>(0x5A5A0);

  // To be set by a test.
  DWORD capture_error = ERROR_SUCCESS, query_error = ERROR_SUCCESS;
  HANDLE named_clone = nullptr;  // in place of `clone`
  std::uint64_t memory_left = 100 << 20, memory_of = 50 << 20;
  std::function<void()> while_capturing = {};
  // What MiniDumpWriteDump does with a clone. Without it, nothing is written, successfully.
  std::function<BOOL(DWORD id, HANDLE file, PMINIDUMP_USER_STREAM_INFORMATION streams,
                     const MINIDUMP_CALLBACK_INFORMATION& callback)>
      write = [](auto&&...) { return TRUE; };

  ChildProcess clone{{"C:\\windows\\system32\\cmd.exe", "/k"}};

  // What has happened.
  std::vector<std::string> calls;
  DWORD captured_id = 0, captured_what = 0, captured_registers = 0;
  MINIDUMP_TYPE written_type = MiniDumpNormal;
  bool clone_ended_before_free = false;
};

}  // namespace mixwalk
