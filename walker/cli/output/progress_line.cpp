#include "walker/cli/output/progress_line.h"

#include <algorithm>

namespace mixwalk {
namespace {

// Consoles are hardly ever narrower. A terminal that does not say its width has presumably this one.
constexpr std::size_t kUsualColumns = 80;

ProgressLine* g_line = nullptr;

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

std::size_t characters_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

}  // namespace

std::string fitting(const std::string& line, std::size_t columns) {
  const std::size_t room = columns == 0 ? 0 : columns - 1;
  if (characters_of(line) <= room) return line;
  std::size_t end = 0;
  for (std::size_t taken = 0; end < line.size(); ++end) {
    if (begins_character(line[end]) && taken++ == room) break;
  }
  const std::string cut = line.substr(0, end);
  const std::size_t comma = line.rfind(", ", end);
  return comma == std::string::npos || comma == 0 || comma > end ? cut : cut.substr(0, comma);
}

ProgressLine::ProgressLine(Terminal terminal) : terminal_(std::move(terminal)), before_(g_line) {
  if (before_ != nullptr) before_->clear();
  g_line = this;
}

ProgressLine::~ProgressLine() {
  g_line = before_;
}

void ProgressLine::show(const std::string& line) {
  if (!on_terminal()) return;
  replace(fitting(line, terminal_.columns().value_or(kUsualColumns)));
}

void ProgressLine::clear() {
  if (!on_terminal() || shown_ == 0) return;
  replace("");
  std::fputs("\r", terminal_.stream);
  std::fflush(terminal_.stream);
}

// fmt::print is not used, because it throws when its stream cannot be written, and a recording may outlive its
// terminal.
void ProgressLine::replace(const std::string& line) {
  // The rest of a longer previous line is erased, with an escape sequence if the terminal obeys it.
  const std::size_t characters = characters_of(line);
  std::string rest = "\x1b[K";
  if (!terminal_.obeys_escapes) rest.assign(shown_ > characters ? shown_ - characters : 0, ' ');
  shown_ = characters;
  std::fprintf(terminal_.stream, "\r%s%s", line.c_str(), rest.c_str());
  std::fflush(terminal_.stream);
}

void clear_progress_line() {
  if (g_line != nullptr) g_line->clear();
}

}  // namespace mixwalk
