#include "walker/cli/win/doctor_checks.h"

#include <windows.h>
#include <winternl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <cwchar>
#include <iterator>

#include "symbols/server/http_get.h"
#include "unmanaged/ascii_lower.h"
#include "unmanaged/win/loader_list.h"
#include "unmanaged/win/module_path.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/version.h"
#include "walker/cli/doctor_symbols.h"
#include "walker/cli/local_symbols.h"
#include "walker/clr/win/dac_finder.h"
#include "walker/session/win/environment.h"
#include "walker/session/win/loaded_runtime.h"
#include "walker/session/win/processes.h"
#include "walker/session/win/token.h"

namespace mixwalk {
namespace {

using State = DoctorLine::State;

// The last number of the integrity label of an elevated administrator's process (winnt.h, SECURITY_MANDATORY_HIGH_RID).
constexpr std::uint32_t kHighIntegrity = 0x3000;
// The first build of Windows with all that mixwalk uses (docs/compatibility.md).
constexpr DWORD kOldestBuild = 14393;

// "0.1.0", from an image's version resource. Empty if the image has none, or if there is no such image.
std::string version_of(const std::wstring& path) {
  const HMODULE image = LoadLibraryExW(path.c_str(), nullptr, LOAD_LIBRARY_AS_DATAFILE);
  if (image == nullptr) return {};
  std::string version;
  const HRSRC resource = FindResourceW(image, MAKEINTRESOURCEW(1), MAKEINTRESOURCEW(16));
  const DWORD bytes = resource != nullptr ? SizeofResource(image, resource) : 0;
  const auto* data = bytes != 0 ? static_cast<const char*>(LockResource(LoadResource(image, resource))) : nullptr;
  for (DWORD at = 0; data != nullptr && at + sizeof(VS_FIXEDFILEINFO) <= bytes; at += 4) {
    VS_FIXEDFILEINFO info;
    std::memcpy(&info, data + at, sizeof info);
    if (info.dwSignature != VS_FFI_SIGNATURE) continue;
    version = std::to_string(HIWORD(info.dwFileVersionMS)) + '.' + std::to_string(LOWORD(info.dwFileVersionMS)) + '.' +
              std::to_string(HIWORD(info.dwFileVersionLS));
    break;
  }
  FreeLibrary(image);
  return version;
}

DoctorLine own_files() {
  const std::wstring dll = module_folder(nullptr) + L"mixwalk.dll";
  DoctorLine line{.check = "mixwalk"};
  if (GetFileAttributesW(dll.c_str()) == INVALID_FILE_ATTRIBUTES) {
    line.state = State::bad;
    line.code = ExitCode::refused;  // the exit code of a dump from inside
    line.found = std::string("mixwalk.exe ") + kVersion + ", and mixwalk.dll is not beside it";
    line.advice = "unpack both into one folder";
    return line;
  }
  const std::string version = version_of(dll);
  line.found =
      std::string("mixwalk.exe ") + kVersion + ", mixwalk.dll " + (version.empty() ? "that cannot be read" : version);
  if (version != kVersion) {
    line.state = State::bad;
    line.code = ExitCode::refused;  // the exit code of a dump from inside
    line.advice = "unpack both from one package";
  }
  return line;
}

DoctorLine system() {
  OSVERSIONINFOW info{.dwOSVersionInfoSize = sizeof info};
  using RtlGetVersion = LONG(WINAPI*)(OSVERSIONINFOW*);
  // GetVersionEx would answer with the version in a program's manifest.
  const auto get = reinterpret_cast<RtlGetVersion>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlGetVersion")));
  if (get == nullptr || get(&info) < 0)
    return {.state = State::note, .check = "system", .found = "does not say its version"};
  DoctorLine line{.check = "system",
                  .found = "Windows " + std::to_string(info.dwMajorVersion) + '.' +
                           std::to_string(info.dwMinorVersion) + '.' + std::to_string(info.dwBuildNumber)};
  if (info.dwMajorVersion < 10 || info.dwBuildNumber < kOldestBuild) {
    line.state = State::note;
    line.advice = "mixwalk is made for Windows 10 of 2016 (1607) and later";
  }
  return line;
}

DoctorLine rights() {
  const auto token = token_facts(GetCurrentProcess());
  if (!token) return {.state = State::note, .check = "rights", .found = "this process's token cannot be read"};
  if (token->integrity >= kHighIntegrity) return {.check = "rights", .found = "those of an administrator"};
  return {.check = "rights", .found = "those of an ordinary user: processes of the same user can be looked at"};
}

DoctorLine debug_privilege() {
  if (DebugPrivilege().held()) {
    return {.check = "SeDebugPrivilege", .found = "held: processes of other users can be looked at"};
  }
  return {.state = State::note,
          .check = "SeDebugPrivilege",
          .found = "not held: processes of other users and services are refused",
          .advice = "to look at those, run mixwalk as administrator"};
}

// The runtime reads its switches as hexadecimal numbers (clrconfignative), so 00 switches a feature off as well.
bool is_zero(const std::wstring& value) {
  wchar_t* end = nullptr;
  return std::wcstoul(value.c_str(), &end, 16) == 0 && end != value.c_str();
}

// The variables that a program started by mixwalk would inherit.
DoctorLine environment() {
  static constexpr std::array<const wchar_t*, 6> kSwitches = {
      L"DOTNET_EnableDiagnostics",          L"COMPlus_EnableDiagnostics",
      L"DOTNET_EnableDiagnostics_IPC",      L"DOTNET_EnableDiagnostics_Profiler",
      L"DOTNET_EnableDiagnostics_Debugger", L"COMPlus_EnableDiagnostics_Profiler"};
  for (const wchar_t* name : kSwitches) {
    const auto value = environment_variable(name);
    if (!value || !is_zero(*value)) continue;
    return {.state = State::note,
            .check = "environment",
            .found = to_utf8(name) + " is " + to_utf8(*value) +
                     ": .NET programs that are started from here do not let mixwalk in",
            .advice = "remove the variable"};
  }
  return {.check = "environment", .found = "switches nothing off in .NET programs that are started from here"};
}

DoctorLine runtimes() {
  const std::vector<std::string> installed = installed_runtimes();
  if (installed.empty()) {
    return {.check = "installed .NET",
            .found = "none: a program's own runtime brings the debugging library for dumps from outside"};
  }
  return {.check = "installed .NET",
          .found = std::to_string(installed.size()) + ", the newest in " + installed.front()};
}

DoctorLine dotnet_processes() {
  const auto all = list_processes();
  const auto count = std::ranges::count_if(all, [](const ProcessEntry& entry) {
    return has_diagnostics_port(entry.id) && loaded_runtime(entry.id) != LoadedRuntime::native_aot;
  });
  return {.check = ".NET processes", .found = std::to_string(count) + " can be attached to (mixwalk ps)"};
}

// Finds security software that puts its DLLs into every process, and so also into this one. Security software that does
// not do this cannot be seen here.
DoctorLine other_software() {
  std::array<wchar_t, MAX_PATH> folder{};
  const UINT length = GetWindowsDirectoryW(folder.data(), MAX_PATH);
  const std::string windows = ascii_lower(to_utf8({folder.data(), std::min<std::size_t>(length, MAX_PATH)})) + '\\';
  const std::string own = ascii_lower(to_utf8(module_folder(nullptr)));
  std::string found;
  for (const ListedImage& image : read_loader_list()) {
    const std::string path = ascii_lower(image.path);
    if (path.starts_with(windows) || path.starts_with(own)) continue;
    found += (found.empty() ? "" : ", ") + image.path;
  }
  if (found.empty()) return {.check = "other software", .found = "puts no DLL into mixwalk.exe"};
  return {.state = State::note,
          .check = "other software",
          .found = "puts DLLs into mixwalk.exe (" + found + "), and may keep mixwalk.dll out of other processes",
          .advice = "if attaching fails, ask its maker for an exception, or use dump --outside"};
}

}  // namespace

std::vector<DoctorLine> look_at_machine(const SymbolChoice& symbols) {
  std::vector<DoctorLine> lines = {own_files(), system(), rights(), debug_privilege(), environment()};
  const auto http = system_http_get();
  std::ranges::move(symbol_path_lines(symbol_path_of(symbols), symbols.limits, *http), std::back_inserter(lines));
  lines.insert(lines.end(), {runtimes(), other_software(), dotnet_processes()});
  return lines;
}

}  // namespace mixwalk
