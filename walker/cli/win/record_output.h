#pragma once

#include <memory>
#include <optional>
#include <string>

#include "walker/base/failure.h"
#include "walker/cli/options/options.h"
#include "walker/cli/output/write_output.h"
#include "walker/cli/output/growing_file.h"
#include "walker/session/recording_pieces.h"

namespace mixwalk {

// The files of a recording: .mixwalk files, one after another, that grow as the samples come; or one file in another
// tool's format, written at the end. The first file is opened before anything is done to a target, so that a wrong path
// does not cost a recording.
class RecordOutput {
 public:
  // `command.format` must be set. Without `command.output`, the file is named after program and time. `limits` are
  // the limits of one file.
  static Outcome<std::unique_ptr<RecordOutput>> open(const RecordCommand& command,
                                                     const PieceLimits& limits = {});

  // To be called once, before all other functions: writes the data that this collector collects.
  void begin(RecordingCollector& collector);
  // To be called when samples have come. Samples that are already in the file are cleared. A file that existed is
  // replaced when there is a first sample.
  std::optional<Failure> take();
  // Whether the file, or the memory for its content, is full.
  bool is_full();
  // Whether cut() may be called. It may not be called if the format is made from the whole recording at its end.
  bool has_pieces() const noexcept { return pieces_.has_value(); }
  // Ends the file, and begins the collector's recording anew (RecordingCollector::begin_piece). The recording continues
  // in a further file.
  std::optional<Failure> cut();
  // To be called after the last sample. Ends the file. A recording without samples is written too, but does not replace
  // a file that existed.
  std::optional<Failure> finish();

  // A text for the user about the files: their names, and whether they replaced others, or why nothing was written.
  // Empty if the one file at the end has said so itself.
  std::string said() const;

 private:
  RecordOutput(const RecordCommand& command, std::string path, const PieceLimits& limits)
      : command_(command), first_path_(std::move(path)), path_(first_path_), limits_(limits) {}
  std::unique_ptr<ByteSink> open_piece(int piece);
  void set_aside_earlier_pieces() const;
  std::optional<Failure> written(bool all) const;
  bool spares_a_file() const;

  const RecordCommand& command_;
  std::string first_path_;
  std::string path_;  // of the file that is being written
  PieceLimits limits_;
  int files_ = 1, replaced_ = 0;
  bool has_samples_ = false;  // whether there was a sample
  RecordingCollector* collector_ = nullptr;

  // .mixwalk
  std::unique_ptr<GrowingFile> first_;   // until pieces_ owns it
  std::optional<RecordingPieces> pieces_;
  const GrowingFile* piece_ = nullptr;   // owned by pieces_; null if none is open
  std::optional<Failure> unopened_;      // why a further file could not be opened

  std::optional<Output> at_end_;  // any other format
};

}  // namespace mixwalk
