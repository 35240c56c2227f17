#include "tests/tools/bundle/timed_program.h"

#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/win/handle_list.h"
#include "walker/session/windows_arguments.h"

namespace mixwalk {
namespace {

constexpr DWORD kEndMs = 10'000;  // for a program that is being terminated

UniqueHandle open_inheritable(const wchar_t* name, DWORD access, DWORD disposition) {
  SECURITY_ATTRIBUTES inherit{sizeof inherit, nullptr, TRUE};
  return UniqueHandle(CreateFileW(name, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, &inherit,
                                  disposition, FILE_ATTRIBUTE_NORMAL, nullptr));
}

}  // namespace

TimedResult run_timed(const TimedProgram& program, HANDLE interrupt) {
  using End = TimedResult::End;
  const UniqueHandle in = open_inheritable(L"NUL", GENERIC_READ, OPEN_EXISTING);
  const UniqueHandle out = open_inheritable(to_utf16(program.output).c_str(), GENERIC_WRITE, CREATE_ALWAYS);
  if (!in || !out) return {End::not_started, GetLastError()};
  // Files of the C runtime are inheritable. Without this list, the report would stay open as long as any program that a
  // test starts.
  HandleList inherited({in.get(), out.get()});
  STARTUPINFOEXW startup{.StartupInfo = {.cb = sizeof startup, .dwFlags = STARTF_USESTDHANDLES},
                         .lpAttributeList = inherited.get()};
  startup.StartupInfo.hStdInput = in.get();
  startup.StartupInfo.hStdOutput = startup.StartupInfo.hStdError = out.get();
  PROCESS_INFORMATION created{};
  std::wstring line = to_utf16(join_windows_arguments(program.command));
  const auto begun = std::chrono::steady_clock::now();
  if (!CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, CREATE_NO_WINDOW | EXTENDED_STARTUPINFO_PRESENT,
                      nullptr, to_utf16(program.folder).c_str(), &startup.StartupInfo, &created)) {
    return {End::not_started, GetLastError()};
  }
  CloseHandle(created.hThread);
  const UniqueHandle process(created.hProcess);
  const HANDLE awaited[] = {process.get(), interrupt};
  const auto limit = std::chrono::milliseconds(program.limit).count();
  const DWORD first = WaitForMultipleObjects(2, awaited, FALSE, static_cast<DWORD>(limit));
  TimedResult result;
  result.time = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
  if (first != WAIT_OBJECT_0) {
    result.end = first == WAIT_TIMEOUT ? End::too_long : End::interrupted;
    // The programs that a test has started are in a job that ends with the test (tests/support/win/child_process.cpp).
    TerminateProcess(process.get(), 99);
    WaitForSingleObject(process.get(), kEndMs);
  }
  GetExitCodeProcess(process.get(), &result.code);
  return result;
}

}  // namespace mixwalk
