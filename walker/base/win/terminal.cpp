#include "walker/base/terminal.h"

#include <io.h>
#include <windows.h>

#include <algorithm>

namespace mixwalk {
namespace {

HANDLE handle_of(std::FILE* stream) noexcept {
  return reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(stream)));
}

}  // namespace

// The C library's _isatty would count every device, such as NUL.
bool is_terminal(std::FILE* stream) noexcept {
  DWORD mode = 0;
  return GetConsoleMode(handle_of(stream), &mode) != 0;
}

// A line ends where the buffer ends, which may be wider than the window.
std::optional<std::size_t> terminal_columns(std::FILE* stream) noexcept {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (!GetConsoleScreenBufferInfo(handle_of(stream), &info)) return std::nullopt;
  const int window = info.srWindow.Right - info.srWindow.Left + 1;
  const int columns = std::min<int>(window, info.dwSize.X);
  return columns > 0 ? std::optional(static_cast<std::size_t>(columns)) : std::nullopt;
}

}  // namespace mixwalk
