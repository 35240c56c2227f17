#include "walker/cli/output/record_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "walker/base/count_words.h"
#include "walker/shown/words.h"

namespace mixwalk {

std::string no_sample_words(SampleEvent event, const std::string& type) {
  const std::string of_type = type.empty() ? "" : " of type \"" + type + "\"";
  const std::string named = type.empty() ? "" : " named \"" + type + "\"";
  std::string what;
  switch (event) {
    case SampleEvent::exception: what = "no exception" + of_type + " was thrown"; break;
    case SampleEvent::allocation: what = "no allocation" + of_type + " was counted"; break;
    case SampleEvent::class_load: what = "no type" + named + " was loaded"; break;
    case SampleEvent::module_load: what = "no module" + named + " was loaded"; break;
    case SampleEvent::cpu: what = "no thread used the CPU"; break;
    case SampleEvent::wall:
    case SampleEvent::dump: what = "no sample was taken"; break;
  }
  what += " while it was recorded: the recording is empty";
  if (type.empty()) return what;
  return what + (event == SampleEvent::module_load ? " (a module is named by its file, such as orders.dll)"
                                                   : " (a type is named in full, such as System.IO.IOException)");
}

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

std::string RecordSummary::line(std::uint64_t seconds, std::uint64_t of_seconds) const {
  std::string line = of_seconds != 0 ? fmt::format("{} of {} s, ", std::min(seconds, of_seconds), of_seconds)
                                     : fmt::format("{} s, ", seconds);
  line += count_words(samples_, "sample") + " of " + count_words(threads_, "thread");
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
