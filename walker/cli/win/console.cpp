#include "walker/cli/win/console.h"

#include <io.h>

#include <iterator>

namespace mixwalk {
namespace {

constexpr DWORD kStreams[] = {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};

UINT g_code_page = 0;  // 0 if there is no console
struct {
  DWORD mode = 0;
  bool is_console = false;
} g_streams[std::size(kStreams)];

// May run twice at the same time, at the end of main and at Ctrl-C. That is safe because it only reads our variables.
void give_back() noexcept {
  if (g_code_page != 0) SetConsoleOutputCP(g_code_page);
  for (std::size_t i = 0; i < std::size(kStreams); ++i) {
    if (g_streams[i].is_console) SetConsoleMode(GetStdHandle(kStreams[i]), g_streams[i].mode);
  }
}

// Only restores the console. Another handler, or the end of the process, decides what the event does.
BOOL WINAPI on_end(DWORD) {
  give_back();
  return FALSE;
}

}  // namespace

ConsoleRestorer::ConsoleRestorer() noexcept {
  g_code_page = GetConsoleOutputCP();
  for (std::size_t i = 0; i < std::size(kStreams); ++i) {
    g_streams[i].is_console = GetConsoleMode(GetStdHandle(kStreams[i]), &g_streams[i].mode) != 0;
  }
  // This is registered first, so it is called last. A handler that lets the program continue answers before this one.
  SetConsoleCtrlHandler(&on_end, TRUE);
  if (g_code_page != 0) SetConsoleOutputCP(CP_UTF8);
}

ConsoleRestorer::~ConsoleRestorer() {
  give_back();
  SetConsoleCtrlHandler(&on_end, FALSE);
}

bool supports_escapes(std::FILE* stream) noexcept {
  const auto console = reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(stream)));
  DWORD mode = 0;
  return GetConsoleMode(console, &mode) &&
         ((mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0 ||
          SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING));
}

ProgressLine::ProgressLine() noexcept : on_terminal_(_isatty(_fileno(stderr)) != 0) {}

// fmt::print is not used, because it throws when its stream cannot be written, and a recording may outlive its terminal.
void ProgressLine::show(const std::string& line, const char* end) {
  if (!on_terminal_) return;
  // The rest of a longer previous line is erased, with an escape sequence if the console obeys it.
  std::string rest = "\x1b[K";
  if (!supports_escapes(stderr)) rest.assign(width_ > line.size() ? width_ - line.size() : 0, ' ');
  width_ = line.size();
  std::fprintf(stderr, "\r%s%s%s", line.c_str(), rest.c_str(), end);
  std::fflush(stderr);
}

}  // namespace mixwalk
