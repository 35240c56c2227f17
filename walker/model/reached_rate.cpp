#include "walker/model/reached_rate.h"

namespace mixwalk {
namespace {

constexpr double kSecondNs = 1e9;

}  // namespace

void ReachedRate::add(std::span<const Recording::Sample> samples, std::uint64_t piece_begin_ns) noexcept {
  samples_ += samples.size();
  for (const Recording::Sample& sample : samples) {
    represented_ns_ += static_cast<double>(sample.value);
    const std::uint64_t time_ns = piece_begin_ns + sample.time_ns;
    if (time_ns != last_time_ns_) last_samples_ = 0;
    last_time_ns_ = time_ns;
    ++last_samples_;
  }
}

std::optional<double> ReachedRate::hz(std::uint64_t period_ns, std::uint64_t duration_ns,
                                      std::uint64_t dropped) const noexcept {
  if (samples_ == 0) return dropped == 0 ? std::nullopt : std::optional(0.0);
  if (represented_ns_ == 0) return std::nullopt;
  const auto taken = static_cast<double>(samples_);
  // The next samples were due one period after the last ones. A file may contain any numbers.
  const std::uint64_t after_last = duration_ns > last_time_ns_ ? duration_ns - last_time_ns_ : 0;
  const double overdue_ns = after_last > period_ns ? static_cast<double>(after_last - period_ns) : 0;
  const double watched_ns = represented_ns_ + overdue_ns * static_cast<double>(last_samples_);
  const double rate = taken / (watched_ns / kSecondNs);
  return rate * taken / (taken + static_cast<double>(dropped));
}

std::optional<double> reached_hz(const Recording& recording) noexcept {
  if (recording.event != SampleEvent::wall) return std::nullopt;
  ReachedRate rate;
  rate.add(recording.samples);
  return rate.hz(recording.period_ns, recording.duration_ns, recording.dropped);
}

}  // namespace mixwalk
