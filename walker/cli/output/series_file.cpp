#include "walker/cli/output/series_file.h"

#include <utility>

#include "walker/base/write_error.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_output.h"

namespace mixwalk {

Outcome<std::unique_ptr<SeriesFile>> SeriesFile::open(const std::optional<std::string>& path) {
  if (!path) return std::unique_ptr<SeriesFile>(new SeriesFile(path, nullptr));
  auto file = GrowingFile::open(*path);
  if (!file) return file.failure();
  return std::unique_ptr<SeriesFile>(new SeriesFile(path, std::move(*file)));
}

SeriesFile::SeriesFile(std::optional<std::string> path, std::unique_ptr<GrowingFile> file)
    : path_(std::move(path)),
      file_(std::move(file)),
      writer_(file_ ? static_cast<ByteSink&>(*file_) : static_cast<ByteSink&>(stdout_)) {}

std::optional<Failure> SeriesFile::add(const Snapshot& dump) {
  series_.add(dump);
  Recording& recording = series_.recording();
  if (auto failure = written((dumps_ != 0 || writer_.begin(recording)) && writer_.append(recording))) return failure;
  recording.samples.clear();
  writer_.samples_cleared();
  ++dumps_;
  return std::nullopt;
}

std::optional<Failure> SeriesFile::end() {
  series_.end();
  if (auto failure = written(writer_.end(series_.recording()))) return failure;
  if (file_) print_failure({ExitCode::ok, written_words(*path_, file_->replaces())});
  return std::nullopt;
}

std::optional<Failure> SeriesFile::written(bool all) const {
  std::string why(writer_.problem());
  if (file_) {
    if (!file_->error().empty()) why = file_->error();
  } else if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    all = false;
    why = write_error();
  }
  return all ? std::nullopt : std::optional(unwritable_output(path_, why));
}

}  // namespace mixwalk
