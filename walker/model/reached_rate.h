#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "walker/model/recording.h"

namespace mixwalk {

// The rate of samples of one thread that a recording of wall time reached, beside the rate that was asked for
// (Recording::period_ns). Pure. In samples per second: the samples that were taken, divided by the time that they
// represent and the time at the end for which no more samples came. Lost samples count as not taken. So a thread that
// lives for a part of the recording does not lower the rate. Other events have no such rate: for CPU time, a thread
// that does not run has no samples, however often it is looked at.
class ReachedRate {
 public:
  // Samples of SampleEvent::wall, in order, of a piece that began `piece_begin_ns` after the whole recording.
  void add(std::span<const Recording::Sample> samples, std::uint64_t piece_begin_ns = 0) noexcept;

  // Of all samples that were added, as part of a recording of that period, duration and loss. Returns nothing if the
  // rate is not known, since nothing was sampled. 0 if all samples were lost.
  std::optional<double> hz(std::uint64_t period_ns, std::uint64_t duration_ns, std::uint64_t dropped) const noexcept;

 private:
  std::uint64_t samples_ = 0;
  double represented_ns_ = 0;  // all samples together: thread-nanoseconds
  std::uint64_t last_time_ns_ = 0, last_samples_ = 0;  // the last moment, and how many samples it has
};

// The rate of a whole recording, in samples per second of each thread. Nothing where it is not known: see ReachedRate.
std::optional<double> reached_hz(const Recording& recording) noexcept;

}  // namespace mixwalk
