#include "walker/cli/output/record_summary.h"

#include <fmt/format.h>

#include <span>

#include "walker/shown/words.h"

namespace mixwalk {

void RecordSummary::take(const Recording& recording, std::size_t first,
                         const RecordProgress& progress) {
  samples_ += recording.samples.size() - first;
  dropped_ = earlier_.dropped + recording.dropped;
  period_ns_ = recording.period_ns;
  threads_ = earlier_.threads + recording.threads.size();
  progress_ = progress;
  duration_ns_ = earlier_.duration_ns + recording.duration_ns;
  for (const Recording::Sample& sample : std::span(recording.samples).subspan(first)) {
    standings_.add(sample.standing, sample.value);
  }
  if (recording.event != SampleEvent::wall) return;
  if (!rate_) rate_.emplace();
  rate_->add(std::span(recording.samples).subspan(first), earlier_.duration_ns);
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

std::string RecordSummary::line(std::uint64_t seconds) const {
  std::string line = fmt::format("{} s, {} samples of {} threads", seconds, samples_, threads_);
  if (const auto reached = reached_hz(); reached && period_ns_ != 0) {
    const RateWords rate = rate_words(*reached, period_ns_);
    line += fmt::format(", {} of {} a second of each", rate.reached, rate.asked);
    if (progress_.slowed) line += " (--budget)";
  }
  if (progress_.samples != 0) {
    const auto percent = [&](std::uint64_t samples) {
      return 100.0 * static_cast<double>(samples) / static_cast<double>(progress_.samples);
    };
    line += fmt::format(", {:.1f} % whole", percent(progress_.whole));
    if (progress_.guessed != 0) line += fmt::format(", {:.1f} % with guessed frames", percent(progress_.guessed));
  }
  if (const std::string standings = standing_sentence(standings_); !standings.empty()) line += ", " + standings;
  line += fmt::format(", {} lost", dropped_);
  if (progress_.frozen.p99_ns != 0) {
    line += fmt::format(", stopped for {:.1f} ms after {:.1f} ms (p99)",
                        static_cast<double>(progress_.frozen.p99_ns) / 1e6,
                        static_cast<double>(progress_.stopping.p99_ns) / 1e6);
  }
  return line;
}

}  // namespace mixwalk
