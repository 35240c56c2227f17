#include "walker/base/list_folder.h"

#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "unmanaged/win/utf8.h"
#include "walker/base/errno_text.h"

namespace mixwalk {

namespace {

// The whole path in the form that is not limited to 260 characters. (Microsoft Learn, "Naming Files, Paths, and
// Namespaces".) Empty if the system does not know it.
std::wstring unlimited(const std::filesystem::path& folder) {
  std::wstring whole(GetFullPathNameW(folder.c_str(), 0, nullptr, nullptr), L'\0');
  whole.resize(GetFullPathNameW(folder.c_str(), static_cast<DWORD>(whole.size()), whole.data(), nullptr));
  if (whole.starts_with(L"\\\\?\\") || whole.starts_with(L"\\\\.\\") || whole.empty()) return whole;
  return whole.starts_with(L"\\\\") ? L"\\\\?\\UNC" + whole.substr(1) : L"\\\\?\\" + whole;
}

std::string error_text(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_INVALID_NAME: return errno_text(ENOENT);
    case ERROR_DIRECTORY: return errno_text(ENOTDIR);
    case ERROR_ACCESS_DENIED: return errno_text(EACCES);
    default: return "error " + std::to_string(error) + " of Windows";
  }
}

}  // namespace

FolderListing list_folder(const std::filesystem::path& folder) {
  FolderListing listing;
  std::wstring pattern = unlimited(folder);
  if (!pattern.ends_with(L'\\')) pattern += L'\\';
  pattern += L'*';
  WIN32_FIND_DATAW entry{};
  const HANDLE search = FindFirstFileExW(pattern.c_str(), FindExInfoBasic, &entry, FindExSearchNameMatch, nullptr,
                                         FIND_FIRST_EX_LARGE_FETCH);
  if (search == INVALID_HANDLE_VALUE) {
    // The root of a drive has no entries "." and "..", so it may have none at all.
    if (GetLastError() != ERROR_FILE_NOT_FOUND) listing.error = error_text(GetLastError());
    return listing;
  }
  do {
    if ((entry.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0) listing.files.push_back(to_utf8(entry.cFileName));
  } while (FindNextFileW(search, &entry));
  if (GetLastError() != ERROR_NO_MORE_FILES) listing.error = error_text(GetLastError());
  FindClose(search);
  std::ranges::sort(listing.files);
  return listing;
}

}  // namespace mixwalk
