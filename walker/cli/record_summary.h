#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "walker/model/recording.h"
#include "walker/session/protocol.h"

namespace mixwalk {

// The totals of a recording so far, for the line that is printed about it. Pure.
class RecordSummary {
 public:
  // The samples from `first` on are new.
  void take(const Recording& recording, std::size_t first, const RecordProgress& progress);

  // To be called before and after the recording begins anew (RecordingCollector::begin_piece): from then on the
  // recording has the times, the threads and the losses of the new piece only.
  void end_piece(const Recording& recording);
  void begin_piece(const Recording& recording);

  std::uint64_t samples() const noexcept { return samples_; }
  // The target's last word.
  const RecordProgress& progress() const noexcept { return progress_; }

  // Samples per second of each thread: the samples that were taken, divided by the time that they stand for and the
  // time at the end for which no more samples came. Lost samples count as not taken. 0: the rate is not known (no
  // wall-clock samples).
  double reached_hz() const noexcept;

  // "30 s, 2950 samples of 10 threads, 98.3 of 100 a second of each, 99.9 % whole, 0 lost, …"
  std::string line(std::uint64_t seconds) const;

 private:
  // Of the pieces before, but for what this one has as well.
  struct Earlier {
    std::uint64_t dropped = 0, duration_ns = 0;
    std::size_t threads = 0;
  };

  Earlier earlier_;
  std::uint64_t samples_ = 0, dropped_ = 0, period_ns_ = 0;
  std::size_t threads_ = 0;
  double represented_ns_ = 0;  // all samples together: thread-nanoseconds; 0 but for wall
  std::uint64_t last_time_ns_ = 0, last_samples_ = 0;  // the last moment, and how many it has
  std::uint64_t duration_ns_ = 0;
  RecordProgress progress_;
};

}  // namespace mixwalk
