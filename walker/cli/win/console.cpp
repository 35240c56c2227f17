#include "walker/cli/win/console.h"

#include <io.h>

#include <iterator>

#include "walker/base/terminal.h"

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

ProgressLine::Terminal progress_terminal() {
  if (!is_terminal(stderr)) return {};
  return {
      .stream = stderr, .obeys_escapes = supports_escapes(stderr), .columns = [] { return terminal_columns(stderr); }};
}

}  // namespace mixwalk
