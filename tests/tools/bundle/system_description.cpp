#include "tests/tools/bundle/system_description.h"

#include <windows.h>

#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

std::string registry_text(const wchar_t* key, const wchar_t* name) {
  WCHAR text[256] = {};
  DWORD bytes = sizeof text - sizeof(WCHAR);
  if (RegGetValueW(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_SZ, nullptr, text, &bytes) != ERROR_SUCCESS) return "";
  return to_utf8(text);
}

std::string registry_number(const wchar_t* key, const wchar_t* name) {
  DWORD number = 0, bytes = sizeof number;
  const auto error = RegGetValueW(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_DWORD, nullptr, &number, &bytes);
  return error == ERROR_SUCCESS ? std::to_string(number) : "";
}

template <class Function>
Function of_ntdll(const char* name) {
  return reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), name)));
}

// Windows gives a program without a manifest an older version by GetVersionEx, so that function is not used.
std::string version() {
  OSVERSIONINFOW version{.dwOSVersionInfoSize = sizeof version};
  const auto get = of_ntdll<LONG(WINAPI*)(OSVERSIONINFOW*)>("RtlGetVersion");
  if (get == nullptr || get(&version) != 0) return "unknown";
  return std::to_string(version.dwMajorVersion) + "." + std::to_string(version.dwMinorVersion) + "." +
         std::to_string(version.dwBuildNumber);
}

bool is_elevated() {
  HANDLE token = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) return false;
  const UniqueHandle closed(token);
  TOKEN_ELEVATION elevation{};
  DWORD bytes = 0;
  return GetTokenInformation(token, TokenElevation, &elevation, sizeof elevation, &bytes) &&
         elevation.TokenIsElevated != 0;
}

}  // namespace

std::string system_description() {
  constexpr const wchar_t* kWindows = L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
  std::string text = "System:         Windows " + version();
  if (const std::string patch = registry_number(kWindows, L"UBR"); !patch.empty()) text += "." + patch;
  text += ", " + registry_text(kWindows, L"ProductName") + " " + registry_text(kWindows, L"DisplayVersion") + "\n";
  if (const auto wine = of_ntdll<const char*(CDECL*)()>("wine_get_version"); wine != nullptr) {
    text += std::string("Wine:           ") + wine() + "\n";
  }
  SYSTEM_INFO machine{};
  GetNativeSystemInfo(&machine);
  MEMORYSTATUSEX memory{.dwLength = sizeof memory};
  GlobalMemoryStatusEx(&memory);
  text += "Processors:     " + std::to_string(machine.dwNumberOfProcessors) +
          (machine.wProcessorArchitecture == PROCESSOR_ARCHITECTURE_AMD64 ? " (x64)" : " (not x64)") + ", " +
          registry_text(L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0", L"ProcessorNameString") + "\n";
  text += "Memory:         " + std::to_string(memory.ullTotalPhys >> 20) + " MiB\n";
  text += std::string("Administrator:  ") + (is_elevated() ? "yes" : "no") + "\n";
  text += "Code page:      " + std::to_string(GetACP()) + "\n";
  const std::string framework = registry_number(L"SOFTWARE\\Microsoft\\NET Framework Setup\\NDP\\v4\\Full", L"Release");
  text += ".NET Framework: " + (framework.empty() ? "none" : "release " + framework) + "\n";
  return text;
}

}  // namespace mixwalk
