#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "walker/base/byte_sink.h"
#include "walker/base/failure.h"
#include "walker/cli/output/growing_file.h"
#include "walker/model/series.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {

// The .mixwalk file of a series of dumps. Each dump is in the file when it was added, so the file is readable, and has
// all dumps so far, however mixwalk ends.
class SeriesFile {
 public:
  // Opens the file. It is not changed before the first dump. `path`: no value for standard output.
  static Outcome<std::unique_ptr<SeriesFile>> open(const std::optional<std::string>& path);

  // Adds a dump with at least one thread. Returns why it could not be written; nothing if it is in the file.
  std::optional<Failure> add(const Snapshot& dump);
  // To be called after the last dump, if there is one. If the file is whole, a line on standard error says so.
  std::optional<Failure> end();
  std::size_t dumps() const noexcept { return dumps_; }

 private:
  SeriesFile(std::optional<std::string> path, std::unique_ptr<GrowingFile> file);
  std::optional<Failure> written(bool all) const;

  std::optional<std::string> path_;
  std::unique_ptr<GrowingFile> file_;  // null for standard output
  FileSink stdout_{stdout};
  RecordingWriter writer_;
  SeriesBuilder series_;
  std::size_t dumps_ = 0;  // that are in the file
};

}  // namespace mixwalk
