#include "walker/base/output_path.h"

#include <windows.h>

#include <array>
#include <string_view>
#include <system_error>

namespace mixwalk {

namespace fs = std::filesystem;

namespace {

// The system gives the full path of a device (NUL, CON, COM1) this beginning.
constexpr std::wstring_view kDevice = L"\\\\.\\";

bool is_device(const fs::path& path) {
  if (std::wstring_view(path.native()).starts_with(kDevice)) return true;
  std::array<wchar_t, 64> whole{};  // a device's is short; of a longer one nothing is written here
  const DWORD length =
      GetFullPathNameW(path.c_str(), static_cast<DWORD>(whole.size()), whole.data(), nullptr);
  return length < whole.size() && std::wstring_view(whole.data(), length).starts_with(kDevice);
}

}  // namespace

bool is_written_through(const fs::path& path) {
  if (is_device(path)) return true;
  // std::filesystem follows a link here.
  const DWORD attributes = GetFileAttributesW(path.c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return true;
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path, ignored).type();
  return type != fs::file_type::not_found && type != fs::file_type::regular;
}

std::FILE* open_for_writing(const fs::path& path) { return _wfopen(path.c_str(), L"wbN"); }

}  // namespace mixwalk
