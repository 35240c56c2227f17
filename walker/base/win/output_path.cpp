#include "walker/base/output_path.h"

#include <windows.h>

#include <array>
#include <optional>
#include <string_view>
#include <system_error>

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

std::FILE* open_for_writing(const fs::path& path) { return _wfopen(path.c_str(), L"wbN"); }

// std::filesystem::equivalent is not used, because it compares drive letters first. A device is never a file, and is
// not opened, because the server of a pipe would see a client come and go.
bool is_same_file(const fs::path& one, const fs::path& other) {
  if (is_device(one) || is_device(other)) return false;
  const auto a = information_of(one), b = information_of(other);
  return a && b && a->dwVolumeSerialNumber == b->dwVolumeSerialNumber && a->nFileIndexHigh == b->nFileIndexHigh &&
         a->nFileIndexLow == b->nFileIndexLow;
}

}  // namespace mixwalk
