// Writes a minidump of a process, for tests of the reader: write_minidump PID FILE [MINIDUMP_TYPE [THREAD EXCEPTION]]
// Without a type, the dump has all of the process's memory, as hang dumps have. THREAD and EXCEPTION: the thread that
// crashed, and the address of its EXCEPTION_POINTERS in the process.
//
// A separate program, which contains no code of mixwalk.

#include <windows.h>

#include <dbghelp.h>

#include <cstdio>
#include <cstdlib>

int wmain(int count, wchar_t** values) {
  if (count < 3) {
    std::fprintf(stderr, "usage: write_minidump PID FILE [TYPE]\n");
    return 2;
  }
  const DWORD id = static_cast<DWORD>(_wtoi(values[1]));
  const HANDLE process = OpenProcess(PROCESS_ALL_ACCESS, FALSE, id);
  const HANDLE file = CreateFileW(values[2], GENERIC_READ | GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS,
                                  FILE_ATTRIBUTE_NORMAL, nullptr);
  if (process == nullptr || file == INVALID_HANDLE_VALUE) {
    std::fprintf(stderr, "cannot open: %lu\n", GetLastError());
    return 1;
  }
  const int type = count > 3 ? _wtoi(values[3])
                             : MiniDumpWithFullMemory | MiniDumpWithHandleData | MiniDumpWithUnloadedModules |
                                   MiniDumpWithFullMemoryInfo | MiniDumpWithThreadInfo;
  MINIDUMP_EXCEPTION_INFORMATION exception{};
  if (count > 5) {
    exception.ThreadId = static_cast<DWORD>(_wtoi(values[4]));
    exception.ExceptionPointers = reinterpret_cast<EXCEPTION_POINTERS*>(_wcstoui64(values[5], nullptr, 10));
    exception.ClientPointers = TRUE;
  }
  // Without this, Wine 8's MiniDumpWriteDump may end this program (walker/outside/writing/minidump_writer.cpp).
  SymInitializeW(process, nullptr, FALSE);
  if (!MiniDumpWriteDump(process, id, file, static_cast<MINIDUMP_TYPE>(type), count > 5 ? &exception : nullptr,
                         nullptr, nullptr)) {
    std::fprintf(stderr, "MiniDumpWriteDump failed: %lx\n", GetLastError());
    return 1;
  }
  CloseHandle(file);
  TerminateProcess(GetCurrentProcess(), 0);  // ends the program before dbghelp frees anything
  return 0;
}
