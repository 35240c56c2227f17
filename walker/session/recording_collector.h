#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "walker/model/recording_builder.h"
#include "walker/store/content_reader.h"

namespace mixwalk {

// Puts what a target sends of a recording together: one Recording out of one .mixwalk file after
// another, each in its own numbers. What comes is not trusted.
class RecordingCollector {
 public:
  // Gives a native frame its symbol (symbolise.h); called once a frame. The module is the frame's.
  using Namer = std::function<void(RecordedFrame& frame, const Module& module)>;

  explicit RecordingCollector(Namer namer) : namer_(std::move(namer)) {}

  // Whole records. Empty: taken. Else why they make no sense, one line.
  std::string_view add(std::string_view bytes, bool new_file);

  // Names, tables and samples so far; the header's fields once the first bytes have come. Whoever
  // has stored the samples may clear them.
  Recording& recording() noexcept { return builder_.recording(); }

  // Whoever has stored all of it lets the recording begin anew: with the tables of the file that is
  // being sent only, without samples, at the moment up to which the one before went.
  void begin_piece();
  // Samples that the target did not take, in all pieces.
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  void take_over();

  Namer namer_;
  RecordingBuilder builder_;
  std::optional<ContentReader> reader_;  // of the file that is being sent
  bool begun_ = false;
  std::uint64_t dropped_ = 0;         // in all
  std::uint64_t dropped_before_ = 0;  // of them, in the files before
  std::uint64_t dropped_stored_ = 0;  // of them, in the pieces before
  std::uint64_t piece_begin_ns_ = 0;  // whole milliseconds
  // The file's numbers → ours.
  std::vector<std::uint32_t> modules_, threads_, details_, frames_, nodes_;
};

}  // namespace mixwalk
