#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "walker/base/byte_sink.h"
#include "walker/base/exit_code.h"
#include "walker/base/failure.h"
#include "walker/base/partial_file.h"
#include "walker/cli/options/formats.h"

namespace mixwalk {

// The failure of a file that cannot be written, or of standard output if there is no path.
Failure unwritable_output(const std::optional<std::string>& path, std::string_view why);
// The failure if a recording that was cut off would be replaced by what of it can be read: a later look may need the
// rest.
std::optional<Failure> would_replace_cut(const std::string& output, const std::string& input);

// The line that says that a file is written: `wrote "orders.json" in place of the file that was there`.
std::string written_words(const std::string& path, bool replaced);

// Refuses a format whose bytes are not for a terminal, if standard output is a terminal and the result goes there.
// `output`: the path, or no value for standard output. `is_terminal`: of standard output.
std::optional<Failure> refuse_terminal(const RecordingFormat& format, const std::optional<std::string>& output,
                                       bool is_terminal);
std::optional<Failure> refuse_terminal(const RecordingFormat& format, const std::optional<std::string>& output);

// The destination of a command's result: a file, or standard output. A file is opened at once, so that a command learns
// of a wrong path before it begins its work.
class Output {
 public:
  explicit Output(std::optional<std::string> path);  // no value for standard output

  // Why nothing can be written; nothing if the destination is open.
  std::optional<Failure> failure() const;
  // No value for standard output.
  const std::optional<std::string>& path() const noexcept { return path_; }
  // Whether there is a file of that name, which write() replaces.
  bool replaces() const noexcept { return file_ && file_->replaces(); }
  // Calls `write` with the destination, and then commits a file. `write` returns false if the sink refused some of the
  // bytes, or if the format has no room for all of the data. Returns nothing if everything was written; if it is a
  // file, a line on standard error says so.
  std::optional<Failure> write(const std::function<bool(ByteSink&)>& write);

 private:
  std::optional<std::string> path_;
  std::optional<PartialFile> file_;
};

// Writes a recording with Output::write(). If the file is larger than a browser can open, a line
// says so.
std::optional<Failure> write_recording(Output& output, const RecordingFormat& format,
                                       const ShowOptions& options,
                                       const Recording& recording);

// Writes a text to standard output. If that fails, prints a line that says so.
ExitCode print(std::string_view text);

}  // namespace mixwalk
