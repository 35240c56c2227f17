#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "walker/model/recording.h"

namespace mixwalk {

// The rate of samples of one thread that a recording of wall time reached, to be compared with the rate that was asked
// for (Recording::period_ns). Pure. The unit is samples per second: the number of samples that were taken, divided by
// the time that they represent plus the time at the end in which no more samples came. Lost samples count as not taken.
// So a thread that lives for a part of the recording does not lower the rate. Recordings of other events have no such
// rate: for CPU time, a thread that does not run has no samples, however often it is looked at.
class ReachedRate {
 public:
  // Adds samples of SampleEvent::wall, in order, from a piece that began `piece_begin_ns` after the whole recording.
  void add(std::span<const Recording::Sample> samples, std::uint64_t piece_begin_ns = 0) noexcept;

  // The rate of all samples that were added, for a recording of that period, duration and loss. Returns nothing if the
  // rate is not known, because nothing was sampled. Returns 0 if all samples were lost.
  std::optional<double> hz(std::uint64_t period_ns, std::uint64_t duration_ns, std::uint64_t dropped) const noexcept;

 private:
  std::uint64_t samples_ = 0;
  double represented_ns_ = 0;  // the time that all samples stand for, in thread-nanoseconds
  std::uint64_t last_time_ns_ = 0, last_samples_ = 0;  // the last moment, and how many samples it has
};

// The rate of a whole recording, in samples per second of each thread. Returns nothing if it is not known (see
// ReachedRate).
std::optional<double> reached_hz(const Recording& recording) noexcept;

}  // namespace mixwalk
