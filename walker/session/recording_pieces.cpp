#include "walker/session/recording_pieces.h"

#include <utility>

#include "walker/store/layout.h"

namespace mixwalk {

static_assert(PieceLimits{}.samples < layout::kMaxSamples);
static_assert(PieceLimits{}.frames < layout::kMaxFrames);
static_assert(PieceLimits{}.nodes < layout::kMaxNodes);
static_assert(PieceLimits{}.others < layout::kMaxModules);

bool PieceLimits::reached_by(const Recording& recording,
                             std::uint64_t samples_in_all) const noexcept {
  return samples_in_all >= samples || recording.frames.size() >= frames ||
         recording.nodes.size() >= nodes || recording.modules.size() >= others ||
         recording.threads.size() >= others || recording.details.size() >= others;
}

RecordingPieces::RecordingPieces(RecordingCollector& collector, Open open,
                                 std::string tool_version, const PieceLimits& limits)
    : collector_(collector),
      open_(std::move(open)),
      tool_version_(std::move(tool_version)),
      limits_(limits) {}

bool RecordingPieces::begin() {
  sink_ = open_(++piece_);
  if (!sink_) return false;
  Recording& recording = collector_.recording();
  recording.tool_version = tool_version_;
  writer_.emplace(*sink_);
  return writer_->begin(recording);
}

bool RecordingPieces::take() {
  if (!writer_ && !begin()) return false;
  Recording& recording = collector_.recording();
  if (!writer_->append(recording)) return false;
  samples_ += recording.samples.size();
  recording.samples.clear();
  writer_->samples_cleared();
  return true;
}

bool RecordingPieces::is_full() {
  return limits_.reached_by(collector_.recording(), samples_);
}

bool RecordingPieces::cut() {
  if (!end()) return false;
  writer_.reset();
  sink_.reset();
  samples_ = 0;
  collector_.begin_piece();
  return true;
}

bool RecordingPieces::end() {
  // If nothing came after the last piece, no further piece is made. An empty recording has one piece.
  if (!writer_ && piece_ > 0 && collector_.recording().dropped == 0) return true;
  if (!writer_ && !begin()) return false;
  return writer_->end(collector_.recording());
}

}  // namespace mixwalk
