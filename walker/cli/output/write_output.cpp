#include "walker/cli/output/write_output.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <utility>

#include "walker/base/partial_file.h"
#include "walker/base/printable.h"
#include "walker/base/terminal.h"
#include "walker/base/write_error.h"
#include "walker/cli/output/print_failure.h"

namespace mixwalk {
namespace {

// Counts the bytes that it passes on.
class CountingSink final : public ByteSink {
 public:
  explicit CountingSink(ByteSink& sink) : sink_(sink) {}
  bool write(std::string_view bytes) override {
    bytes_ += bytes.size();
    return sink_.write(bytes);
  }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  ByteSink& sink_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Failure unwritable_output(const std::optional<std::string>& path, std::string_view why) {
  const std::string where = path ? quoted_path(*path) : "to standard output";
  return {ExitCode::output, "cannot write " + where + ": " + std::string(why)};
}

std::optional<Failure> would_replace_cut(const std::string& output, const std::string& input) {
  if (!would_overwrite(output, input)) return std::nullopt;
  return unwritable_output(output,
                           "that would replace the recording that is read, which was cut off; name another file");
}

std::string written_words(const std::string& path, bool replaced) {
  return "wrote " + quoted_path(path) + (replaced ? " in place of the file that was there" : "");
}

std::optional<Failure> refuse_terminal(const RecordingFormat& format, const std::optional<std::string>& output,
                                       bool is_terminal) {
  if (!is_binary(format.id) || output || !is_terminal) return std::nullopt;
  return Failure{ExitCode::usage, "the format " + std::string(format.name) +
                                      " is not for a terminal: name a file with -o, or redirect standard output"};
}

std::optional<Failure> refuse_terminal(const RecordingFormat& format, const std::optional<std::string>& output) {
  return refuse_terminal(format, output, is_terminal(stdout));
}

Output::Output(std::optional<std::string> path) : path_(std::move(path)) {
  if (path_) file_.emplace(*path_);
}

std::optional<Failure> Output::failure() const {
  if (!file_ || file_->error().empty()) return std::nullopt;
  return unwritable_output(path_, file_->error());
}

std::optional<Failure> Output::write(const std::function<bool(ByteSink&)>& write) {
  std::string why;
  bool written = false;
  if (file_) {
    written = write(*file_);
    why = written ? file_->commit() : file_->error();
  } else {
    FileSink sink(stdout);
    written = write(sink);
    const bool failed = std::ferror(stdout) != 0;
    if (!failed) expect_full_disk();
    if (failed || std::fflush(stdout) != 0) why = write_error();
  }
  if (!written && why.empty()) why = "the output is too large for this format";
  if (!why.empty()) return unwritable_output(path_, why);
  if (path_) print_failure({ExitCode::ok, written_words(*path_, replaces())});
  return std::nullopt;
}

std::optional<Failure> write_recording(Output& output, const RecordingFormat& format, const ShowOptions& options,
                                       const Recording& recording) {
  std::uint64_t bytes = 0;
  auto failure = output.write([&](ByteSink& sink) {
    CountingSink counting(sink);
    const bool written = format.write(recording, options, counting);
    bytes = counting.bytes();
    return written;
  });
  if (!failure && output.path() && format.browser_bytes != 0 && bytes > format.browser_bytes) {
    constexpr std::uint64_t kMegabyte = 1'000'000;
    print_failure(
        {ExitCode::ok,
         fmt::format("{} has {} MB, but browsers open about {} MB: write a part of a .mixwalk "
                     "recording, with mixwalk convert --from TIME --to TIME",
                     quoted_path(*output.path()), bytes / kMegabyte,
                     format.browser_bytes / kMegabyte)});
  }
  return failure;
}

ExitCode print(std::string_view text) {
  const auto failure = Output({}).write([&](ByteSink& sink) { return sink.write(text); });
  return failure ? print_failure(*failure) : ExitCode::ok;
}

}  // namespace mixwalk
