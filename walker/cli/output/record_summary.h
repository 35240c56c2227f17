#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "walker/model/reached_rate.h"
#include "walker/model/recording.h"
#include "walker/session/protocol.h"

namespace mixwalk {

// Why a recording has no sample although nothing failed, and what the user may have mistyped: `no exception of type
// "IOException" was thrown …`. `type`: RecordCommand::type. Pure.
std::string no_sample_words(SampleEvent event, const std::string& type);

// The totals of a recording so far, for the line that is printed about the recording. Pure.
class RecordSummary {
 public:
  // Takes the new samples: those from the index `first` on.
  void take(const Recording& recording, std::size_t first, const RecordProgress& progress);

  // To be called before and after the recording begins anew (RecordingCollector::begin_piece). From then on the
  // recording has only the times, the threads and the losses of the new piece.
  void end_piece(const Recording& recording);
  void begin_piece(const Recording& recording);

  std::uint64_t samples() const noexcept { return samples_; }
  // The last progress that the target reported.
  const RecordProgress& progress() const noexcept { return progress_; }

  // Samples per second of each thread, of all pieces together. Returns nothing if the rate is not known (ReachedRate).
  std::optional<double> reached_hz() const noexcept {
    return rate_ ? rate_->hz(period_ns_, duration_ns_, dropped_) : std::nullopt;
  }

  // "30 s, 2950 samples of 10 threads, 98.3 of 100 a second of each, 99.9 % whole, 0 lost, …". `of_seconds`: how long
  // the recording will be, for "12 of 30 s, …"; 0 for no such limit.
  std::string line(std::uint64_t seconds, std::uint64_t of_seconds = 0) const;

 private:
  // The totals of the earlier pieces, without the values that the current piece has as well.
  struct Earlier {
    std::uint64_t dropped = 0, duration_ns = 0;
    std::size_t threads = 0;
  };

  Earlier earlier_;
  std::uint64_t samples_ = 0, dropped_ = 0, period_ns_ = 0;
  std::size_t threads_ = 0;
  StandingSums standings_;
  std::optional<ReachedRate> rate_;  // no value if the samples are not of wall time
  std::uint64_t duration_ns_ = 0;
  RecordProgress progress_;
};

}  // namespace mixwalk
