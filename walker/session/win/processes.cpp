#include "walker/session/win/processes.h"

#include <tlhelp32.h>

#include <algorithm>

#include "unmanaged/image/debug_directory.h"
#include "unmanaged/win/utf8.h"
#include "walker/session/win/loaded_runtime.h"
#include "walker/session/win/process_machine.h"
#include "walker/session/win/token.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

// A container of Windows (a process of its own session of the kernel's objects) has its own named pipes, while the host
// lists the processes of all containers that share its kernel. (Microsoft Learn, "Isolation Modes".)
constexpr const char* kWhyClosed =
    "it is still starting, or runs with DOTNET_EnableDiagnostics=0, or runs in a container: then run mixwalk in that"
    " container";

// The reason why a process without an open diagnostics port cannot be attached to, by the modules that it has loaded.
// An application host that has loaded no module of .NET yet (hostfxr.dll is the first) counts as a process without
// .NET.
Failure no_port(std::uint32_t id, const std::string& name) {
  const std::string process = describe_process(id, name);
  switch (loaded_runtime(id)) {
    case LoadedRuntime::core:
      return {ExitCode::not_started,
              process + " has loaded the .NET runtime, but its diagnostics port is not open: " + kWhyClosed};
    case LoadedRuntime::core_in_program:
      return {ExitCode::not_started,
              process + " has the .NET runtime in its own file, but its diagnostics port is not open: " +
                  kWhyClosed};
    case LoadedRuntime::host_only:
      return {ExitCode::not_started,
              process + " has not started its .NET runtime yet"};
    case LoadedRuntime::framework:
      return {ExitCode::not_dotnet,
              process +
                  " runs .NET Framework, which cannot be attached to: start it"
                  " with \"mixwalk dump -- PROGRAM\", or read it with \"mixwalk dump --outside\""};
    case LoadedRuntime::native_aot:  // was found before
    case LoadedRuntime::unknown:
    case LoadedRuntime::none: break;
  }
  return {ExitCode::not_dotnet, process + " is not a .NET process: \"mixwalk dump --outside\" shows the stacks of any"};
}

}  // namespace

std::vector<ProcessEntry> list_processes() {
  std::vector<ProcessEntry> processes;
  const UniqueHandle snapshot(CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  if (!snapshot) return processes;
  PROCESSENTRY32W entry{.dwSize = sizeof entry};
  for (BOOL more = Process32FirstW(snapshot.get(), &entry); more;
       more = Process32NextW(snapshot.get(), &entry)) {
    processes.push_back({entry.th32ProcessID, to_utf8(entry.szExeFile)});
  }
  std::sort(processes.begin(), processes.end(),
            [](const ProcessEntry& left, const ProcessEntry& right) { return left.id < right.id; });
  return processes;
}

std::string machine_name() {
  DWORD size = 0;
  GetComputerNameExW(ComputerNameDnsHostname, nullptr, &size);
  std::wstring name(size, L'\0');
  if (size == 0 || !GetComputerNameExW(ComputerNameDnsHostname, name.data(), &size)) return {};
  name.resize(size);
  return to_utf8(name);
}

std::string process_name(std::uint32_t process_id) {
  for (ProcessEntry& entry : list_processes()) {
    if (entry.id == process_id) return std::move(entry.name);
  }
  return {};
}

std::string describe_process(std::uint32_t process_id, const std::string& name) {
  return "process " + std::to_string(process_id) + (name.empty() ? "" : " (" + name + ")");
}

std::string describe_process(std::uint32_t process_id) {
  return describe_process(process_id, process_name(process_id));
}

std::string describe_process(HANDLE process) {
  constexpr DWORD kMaxPath = 32'768;  // the longest path of Windows
  std::wstring path(kMaxPath, L'\0');
  DWORD length = kMaxPath;
  path.resize(QueryFullProcessImageNameW(process, 0, path.data(), &length) ? length : 0);
  return describe_process(GetProcessId(process), std::string(file_name(to_utf8(path))));
}

bool has_diagnostics_port(std::uint32_t process_id) {
  const std::wstring name = L"\\\\.\\pipe\\dotnet-diagnostic-" + std::to_wstring(process_id);
  // Waits for a free instance. This fails at once for a pipe that does not exist. A pipe that is busy exists
  // nevertheless.
  return WaitNamedPipeW(name.c_str(), 1) || GetLastError() == ERROR_SEM_TIMEOUT;
}

Outcome<AttachTarget> find_target(std::uint32_t process_id) {
  std::string name = process_name(process_id);
  // PROCESS_DUP_HANDLE is needed to share the ledger with the process (TargetWatch).
  UniqueHandle process = open_process(
      SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_DUP_HANDLE, process_id);
  if (!process) {
    const DWORD error = GetLastError();
    if (error == ERROR_ACCESS_DENIED) {
      return Failure{ExitCode::no_access, "no access to " + describe_process(process_id, name) +
                                              ": run mixwalk as the same user or as administrator"};
    }
    return no_process_with(process_id);
  }
  const auto ended = [&] { return WaitForSingleObject(process.get(), 0) == WAIT_OBJECT_0; };
  const Failure has_ended{ExitCode::no_process, describe_process(process_id, name) + " has ended"};
  if (ended()) return has_ended;
  if (const std::string why = unfit_machine(process.get()); !why.empty()) {
    return Failure{ExitCode::wrong_bitness, describe_process(process_id, name) + why};
  }
  // Its port, if it has one, takes no mixwalk.dll.
  if (loaded_runtime(process_id) == LoadedRuntime::native_aot) {
    return Failure{ExitCode::refused, describe_process(process_id, name) +
                                          " is a NativeAOT program, whose runtime takes no mixwalk.dll; dump "
                                          "reads it from outside"};
  }
  if (!has_diagnostics_port(process_id)) {
    Failure failure = no_port(process_id, name);
    // The reasons that were found for a process that was ending are not reliable.
    return ended() ? has_ended : std::move(failure);
  }
  return AttachTarget{process_id, std::move(name), std::move(process)};
}

Outcome<std::uint32_t> find_process(const std::string& name) {
  std::vector<ProcessEntry> processes = list_processes();
  // mixwalk does not look at itself.
  std::erase_if(processes, [](const ProcessEntry& entry) { return entry.id == GetCurrentProcessId(); });
  return process_named(processes, name);
}

}  // namespace mixwalk
