#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "walker/session/recording_collector.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {

// How much of a recording is kept in memory, or put into one file, before another file begins. Each limit is far below
// what a file may hold (walker/store/layout.h).
struct PieceLimits {
  // A reader keeps all samples in memory. This many samples take 1.3 GB. A hundred threads give about as many in an
  // hour at 100 Hz.
  std::uint64_t samples = 1 << 25;
  // Frames and nodes together take some 300 MB in memory, with names.
  std::size_t frames = 250'000;
  std::size_t nodes = 2'000'000;
  std::size_t others = 1 << 16;  // each of modules, threads, and details

  bool reached_by(const Recording& recording, std::uint64_t samples_in_all) const noexcept;
};

// Writes a collector's recording as .mixwalk files, one after another. A recording may go on for days, while both its
// memory and the memory that a reader of one file needs stay limited. Each file is a recording by itself, of a part of
// the time.
class RecordingPieces {
 public:
  // Opens the file of a piece. Pieces are counted from 1. Returns null if the file cannot be written.
  using Open = std::function<std::unique_ptr<ByteSink>(int piece)>;

  RecordingPieces(RecordingCollector& collector, Open open, std::string tool_version,
                  const PieceLimits& limits = {});

  // Writes the data that has come since the last call. Returns false if the file cannot be written.
  bool take();
  // Writes the end of the recording. The file gets its footer even if take() met a limit.
  bool end();
  // Ends the current file, and makes the collector's recording begin anew. Returns false if the file cannot be written.
  bool cut();
  bool is_full();
  // The limit of the format that was reached, in one line. Empty if none was reached, or if the sink refused.
  std::string_view problem() const noexcept { return writer_ ? writer_->problem() : ""; }

 private:
  bool begin();

  RecordingCollector& collector_;
  Open open_;
  std::string tool_version_;
  PieceLimits limits_;
  int piece_ = 0;
  std::uint64_t samples_ = 0;  // of this piece
  std::unique_ptr<ByteSink> sink_;
  std::optional<RecordingWriter> writer_;
};

}  // namespace mixwalk
