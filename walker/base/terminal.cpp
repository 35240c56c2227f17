#include "walker/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace mixwalk {

bool is_terminal(std::FILE* stream) noexcept {
  return isatty(fileno(stream)) != 0;
}

std::optional<std::size_t> terminal_columns(std::FILE* stream) noexcept {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

}  // namespace mixwalk
