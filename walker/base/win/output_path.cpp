#include "walker/base/output_path.h"

#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>

#include "walker/base/errno_text.h"

namespace mixwalk {

namespace fs = std::filesystem;

namespace {

// The system begins the full path of a device (NUL, CON, COM1) this way.
constexpr std::wstring_view kDevice = L"\\\\.\\";

bool is_device(const fs::path& path) {
  if (std::wstring_view(path.native()).starts_with(kDevice)) return true;
  std::array<wchar_t, 64> whole{};  // a device's path is short; a longer path is not written here
  const DWORD length =
      GetFullPathNameW(path.c_str(), static_cast<DWORD>(whole.size()), whole.data(), nullptr);
  return length < whole.size() && std::wstring_view(whole.data(), length).starts_with(kDevice);
}

// Returns nothing if the path leads to nothing that can be opened.
std::optional<BY_HANDLE_FILE_INFORMATION> information_of(const fs::path& path) {
  const HANDLE file = CreateFileW(path.c_str(), FILE_READ_ATTRIBUTES,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                                  FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) return {};
  BY_HANDLE_FILE_INFORMATION information{};
  const bool known = GetFileInformationByHandle(file, &information);
  CloseHandle(file);
  return known ? std::optional(information) : std::nullopt;
}

std::string why_not_opened(DWORD error) {
  switch (error) {
    case ERROR_SHARING_VIOLATION:
    case ERROR_DELETE_PENDING: return "another program is writing it";
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME: return errno_text(ENOENT);
    case ERROR_INVALID_NAME:
    case ERROR_BAD_PATHNAME: return "Windows allows no such name";
    case ERROR_FILENAME_EXCED_RANGE: return errno_text(ENAMETOOLONG);
    case ERROR_ACCESS_DENIED: return errno_text(EACCES);
    case ERROR_WRITE_PROTECT: return errno_text(EROFS);
    case ERROR_DISK_FULL: return errno_text(ENOSPC);
    default: return "error " + std::to_string(error) + " of Windows";
  }
}

}  // namespace

bool is_written_through(const fs::path& path) {
  if (is_device(path)) return true;
  // std::filesystem would follow a link here.
  const DWORD attributes = GetFileAttributesW(path.c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return true;
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path, ignored).type();
  return type != fs::file_type::not_found && type != fs::file_type::regular;
}

OpenedOutput open_output(const fs::path& path, bool removable) {
  using Kind = OpenedOutput::Kind;
  const bool device = is_device(path);
  // "a:b.html" would be written into a stream of the file "a", which no program shows.
  if (!device && path.filename().native().find(L':') != std::wstring::npos) {
    return {.file = nullptr, .why = why_not_opened(ERROR_INVALID_NAME)};
  }
  // Other programs may read the file, and may rename it.
  const DWORD share = FILE_SHARE_READ | FILE_SHARE_DELETE | (device ? FILE_SHARE_WRITE : 0);
  const auto open = [&](DWORD access) {
    return CreateFileW(path.c_str(), access, share, nullptr, device ? OPEN_EXISTING : OPEN_ALWAYS,
                       FILE_ATTRIBUTE_NORMAL, nullptr);
  };
  HANDLE file = open(removable && !device ? GENERIC_WRITE | DELETE : GENERIC_WRITE);
  if (file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_ACCESS_DENIED) file = open(GENERIC_WRITE);
  const DWORD error = GetLastError();
  if (file == INVALID_HANDLE_VALUE) return {.file = nullptr, .why = why_not_opened(error)};
  const Kind kind = device || GetFileType(file) != FILE_TYPE_DISK ? Kind::stream
                    : error == ERROR_ALREADY_EXISTS               ? Kind::existing
                                                                  : Kind::created;
  const int descriptor = _open_osfhandle(reinterpret_cast<std::intptr_t>(file), _O_WRONLY | _O_BINARY | _O_NOINHERIT);
  return {.file = _fdopen(descriptor, "wb"), .kind = kind, .why = {}};
}

// If the system refuses this, a file stays that nothing was written to.
void remove_at_end(std::FILE* file, const fs::path&, bool remove) {
  if (file == nullptr) return;
  FILE_DISPOSITION_INFO disposition{.DeleteFile = remove};
  SetFileInformationByHandle(reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file))), FileDispositionInfo, &disposition,
                             sizeof disposition);
}

bool empty(std::FILE* file) { return _chsize_s(_fileno(file), 0) == 0; }

// std::filesystem::equivalent is not used, because it compares drive letters first. A device is never a file, and is
// not opened, because the server of a pipe would see a client come and go.
bool is_same_file(const fs::path& one, const fs::path& other) {
  if (is_device(one) || is_device(other)) return false;
  const auto a = information_of(one), b = information_of(other);
  return a && b && a->dwVolumeSerialNumber == b->dwVolumeSerialNumber && a->nFileIndexHigh == b->nFileIndexHigh &&
         a->nFileIndexLow == b->nFileIndexLow;
}

}  // namespace mixwalk
