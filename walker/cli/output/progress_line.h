#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

namespace mixwalk {

// A line on a terminal that is written again and again. It never takes more than one row, since only one row can be
// replaced. Writes nothing if the stream is no terminal. The newest object owns the line.
class ProgressLine {
 public:
  struct Terminal {
    std::FILE* stream = nullptr;                          // null: there is no terminal
    bool obeys_escapes = false;                           // whether it obeys escape sequences
    std::function<std::optional<std::size_t>()> columns;  // terminal_columns()
  };
  explicit ProgressLine(Terminal terminal);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool on_terminal() const noexcept { return terminal_.stream != nullptr; }
  // Replaces the line. What does not fit into one row is left out.
  void show(const std::string& line);
  // Removes the line, so that another message can begin in its row.
  void clear();

 private:
  void replace(const std::string& line);

  const Terminal terminal_;
  ProgressLine* const before_;  // the object that owns the line again when this one is gone
  std::size_t shown_ = 0;  // characters of the line
};

// The beginning of the line that fits into a row of so many columns: whole parts, between which there are commas, if
// there are any. The last column stays free, because some consoles begin a new row after it. Pure.
std::string fitting(const std::string& line, std::size_t columns);

// Removes the line that a ProgressLine shows, if there is one. To be called before anything else is written to the same
// terminal.
void clear_progress_line();

}  // namespace mixwalk
