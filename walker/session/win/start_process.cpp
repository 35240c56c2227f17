#include "walker/session/win/start_process.h"

#include <charconv>

#include "unmanaged/win/utf8.h"
#include "walker/base/win/handle_list.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

bool limit_job(HANDLE job, DWORD flags, SIZE_T max_bytes) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = flags | (max_bytes != 0 ? JOB_OBJECT_LIMIT_PROCESS_MEMORY : 0);
  limits.ProcessMemoryLimit = max_bytes;
  return SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits) != 0;
}

}  // namespace

StartedProcess start_process(const wchar_t* program, std::wstring command_line, DWORD flags, wchar_t* environment,
                             STARTUPINFOW& startup) {
  PROCESS_INFORMATION created{};
  if (!CreateProcessW(program, command_line.data(), nullptr, nullptr, TRUE, flags, environment, nullptr, &startup,
                      &created)) {
    return {.error = GetLastError()};
  }
  return {UniqueHandle(created.hProcess), UniqueHandle(created.hThread), created.dwProcessId};
}

Outcome<StartedHelper> start_helper(const std::wstring& program, const Helper& helper) {
  const auto failed = [&](const std::string& what, const std::string& why) {
    return Failure{ExitCode::internal, "cannot start the " + helper.name + ": " + what + ": " + why};
  };
  UniqueHandle job(CreateJobObjectW(nullptr, nullptr));
  if (!job || !limit_job(job.get(), JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, helper.max_bytes)) {
    return failed("job", last_error());
  }
  std::vector<HANDLE> handles = helper.arguments;
  if (helper.also != nullptr) handles.push_back(helper.also);
  HandleList list(std::move(handles), job.get());
  if (!list.ready()) return failed("handles", last_error());
  std::wstring command = L'"' + program + L"\" " + to_utf16(helper.command);
  for (const HANDLE argument : helper.arguments) command += L' ' + to_utf16(handle_text(argument));
  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof startup;
  startup.lpAttributeList = list.get();
  // For a console the system would start another program.
  DWORD flags = CREATE_NEW_PROCESS_GROUP | DETACHED_PROCESS | EXTENDED_STARTUPINFO_PRESENT;
  const bool assign = !helper.outlives_us && !list.with_job();
  if (assign) flags |= CREATE_SUSPENDED;
  StartedProcess started = start_process(program.c_str(), std::move(command), flags, nullptr, startup.StartupInfo);
  if (!started.process) return failed("process", image_error_text(started.error, "mixwalk.exe"));
  if (assign) {
    if (!AssignProcessToJobObject(job.get(), started.process.get())) {
      const Failure failure = failed("job", last_error());
      TerminateProcess(started.process.get(), 0);
      return failure;
    }
    ResumeThread(started.thread.get());
  }
  if (helper.outlives_us && !limit_job(job.get(), 0, 0)) return failed("limits", last_error());
  return StartedHelper{std::move(job), std::move(started.process), started.id};
}

UniqueHandle inherited_handle(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return UniqueHandle(reinterpret_cast<HANDLE>(value));
}

}  // namespace mixwalk
