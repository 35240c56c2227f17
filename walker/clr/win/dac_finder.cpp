#include "walker/clr/win/dac_finder.h"

#include <windows.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxInstalled = 256;

// The numbers of "10.0.12" or "10.0.0-rc.2", for sorting.
std::array<unsigned, 3> numbers(const std::string& version) {
  std::array<unsigned, 3> parts{};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (unsigned& part : parts) {
    const auto parsed = std::from_chars(at, end, part);
    at = parsed.ptr != end && *parsed.ptr == '.' ? parsed.ptr + 1 : end;
  }
  return parts;
}

}  // namespace

std::vector<std::string> installed_runtimes() {
  WCHAR folder[MAX_PATH];
  const DWORD length = GetEnvironmentVariableW(L"ProgramW6432", folder, MAX_PATH);
  const std::wstring programs = length != 0 && length < MAX_PATH ? std::wstring(folder, length)
                                                                 : std::wstring(L"C:\\Program Files");
  const std::wstring shared = programs + L"\\dotnet\\shared\\Microsoft.NETCore.App";
  std::vector<std::string> versions;
  WIN32_FIND_DATAW found;
  const HANDLE search = FindFirstFileW((shared + L"\\*").c_str(), &found);
  if (search == INVALID_HANDLE_VALUE) return {};
  do {
    const bool is_folder = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    if (is_folder && found.cFileName[0] != L'.') versions.push_back(to_utf8(found.cFileName));
  } while (versions.size() < kMaxInstalled && FindNextFileW(search, &found));
  FindClose(search);
  std::ranges::sort(versions, [](const auto& left, const auto& right) { return numbers(left) > numbers(right); });
  for (std::string& version : versions) version = to_utf8(shared) + '\\' + version;
  return versions;
}

}  // namespace mixwalk
