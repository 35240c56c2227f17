#include "walker/session/win/child_processes.h"

#include <tlhelp32.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"
#include "walker/session/win/loaded_runtime.h"
#include "walker/session/win/process_machine.h"
#include "walker/session/win/token.h"

namespace mixwalk {
namespace {

std::optional<std::uint64_t> created(HANDLE process) {
  FILETIME begun{}, ended{}, kernel{}, user{};
  if (!GetProcessTimes(process, &begun, &ended, &kernel, &user)) return std::nullopt;
  return std::uint64_t{begun.dwHighDateTime} << 32 | begun.dwLowDateTime;
}

std::optional<LaunchedChild::Kind> kind_of(HANDLE process, std::uint32_t id) {
  using Kind = LaunchedChild::Kind;
  if (!unfit_machine(process).empty()) return Kind::bits32;
  switch (loaded_runtime(id)) {
    case LoadedRuntime::host_only:  // the runtime comes next
    case LoadedRuntime::core:
    case LoadedRuntime::core_in_program:
    case LoadedRuntime::framework: return Kind::dotnet;
    case LoadedRuntime::native_aot: return Kind::native_aot;
    default: return std::nullopt;  // such as a console's conhost.exe
  }
}

}  // namespace

Launched launched_by(HANDLE process, std::uint32_t inherited) {
  struct Parent {
    std::uint32_t id;
    std::uint64_t created;
  };
  std::vector<Parent> parents = {{GetProcessId(process), created(process).value_or(0)}};
  Launched launched;
  const UniqueHandle all(CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  for (std::size_t i = 0; i < parents.size(); ++i) {
    PROCESSENTRY32W entry{.dwSize = sizeof entry};
    for (BOOL more = Process32FirstW(all.get(), &entry); more; more = Process32NextW(all.get(), &entry)) {
      const bool is_child = entry.th32ParentProcessID == parents[i].id;
      const bool is_inherited = i == 0 && inherited != 0 && entry.th32ProcessID == inherited;
      if ((!is_child && !is_inherited) || entry.th32ProcessID == GetCurrentProcessId()) continue;
      const UniqueHandle child = open_process(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, entry.th32ProcessID);
      if (!child || WaitForSingleObject(child.get(), 0) == WAIT_OBJECT_0) continue;
      // The id of a parent that has ended may be that of another process meanwhile, but no child is older than its
      // parent.
      const auto begun = created(child.get());
      if (!begun || *begun < parents[i].created) continue;
      if (std::ranges::find(parents, entry.th32ProcessID, &Parent::id) != parents.end()) continue;
      parents.push_back({entry.th32ProcessID, *begun});
      if (const auto kind = kind_of(child.get(), entry.th32ProcessID)) {
        launched.children.push_back({entry.th32ProcessID, to_utf8(entry.szExeFile), *kind});
      } else {
        launched.others = true;
      }
    }
  }
  return launched;
}

}  // namespace mixwalk
