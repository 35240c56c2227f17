#include "walker/cli/record_summary.h"

#include <fmt/format.h>

namespace mixwalk {
namespace {

constexpr double kSecondNs = 1e9;

}  // namespace

void RecordSummary::take(const Recording& recording, std::size_t first,
                         const RecordProgress& progress) {
  samples_ += recording.samples.size() - first;
  dropped_ = earlier_.dropped + recording.dropped;
  period_ns_ = recording.period_ns;
  threads_ = earlier_.threads + recording.threads.size();
  progress_ = progress;
  duration_ns_ = earlier_.duration_ns + recording.duration_ns;
  if (recording.event != SampleEvent::wall) return;
  for (std::size_t i = first; i < recording.samples.size(); ++i) {
    const Recording::Sample& sample = recording.samples[i];
    represented_ns_ += static_cast<double>(sample.value);
    const std::uint64_t time_ns = earlier_.duration_ns + sample.time_ns;
    if (time_ns != last_time_ns_) last_samples_ = 0;
    last_time_ns_ = time_ns;
    ++last_samples_;
  }
}

void RecordSummary::end_piece(const Recording& recording) {
  earlier_.dropped += recording.dropped;
  earlier_.duration_ns += recording.duration_ns;
  earlier_.threads += recording.threads.size();
}

void RecordSummary::begin_piece(const Recording& recording) {
  earlier_.dropped -= recording.dropped;
  earlier_.duration_ns -= recording.duration_ns;
  earlier_.threads -= recording.threads.size();
}

double RecordSummary::reached_hz() const noexcept {
  if (represented_ns_ == 0) return 0;
  const auto taken = static_cast<double>(samples_);
  // The next samples were due one period after the last ones.
  const std::uint64_t due = last_time_ns_ + period_ns_;
  const double since_last = duration_ns_ > due ? static_cast<double>(duration_ns_ - due) : 0;
  const double watched_ns = represented_ns_ + since_last * static_cast<double>(last_samples_);
  const double rate = taken / (watched_ns / kSecondNs);
  return rate * taken / (taken + static_cast<double>(dropped_));
}

std::string RecordSummary::line(std::uint64_t seconds) const {
  std::string line = fmt::format("{} s, {} samples of {} threads", seconds, samples_, threads_);
  if (reached_hz() != 0 && period_ns_ != 0) {
    line += fmt::format(", {:.1f} of {:g} a second of each", reached_hz(),
                        kSecondNs / static_cast<double>(period_ns_));
    if (progress_.slowed) line += " (--budget)";
  }
  if (progress_.samples != 0) {
    const auto percent = [&](std::uint64_t samples) {
      return 100.0 * static_cast<double>(samples) / static_cast<double>(progress_.samples);
    };
    line += fmt::format(", {:.1f} % whole", percent(progress_.whole));
    if (progress_.guessed != 0) line += fmt::format(", {:.1f} % with guessed frames", percent(progress_.guessed));
  }
  line += fmt::format(", {} lost", dropped_);
  if (progress_.frozen.p99_ns != 0) {
    line += fmt::format(", stopped for {:.1f} ms after {:.1f} ms (p99)",
                        static_cast<double>(progress_.frozen.p99_ns) / 1e6,
                        static_cast<double>(progress_.stopping.p99_ns) / 1e6);
  }
  return line;
}

}  // namespace mixwalk
