#include "walker/report/time_strips.h"

#include <algorithm>

#include "walker/shown/shown_stacks.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kMaxBuckets = 1000, kMinBuckets = 100;
constexpr std::size_t kAllBuckets = 100'000;  // for all threads together: at most some megabytes

// The end of the time axis. Samples may come later than the end that the recording gives.
std::uint64_t length_of(const Recording& recording) {
  std::uint64_t ns = std::max<std::uint64_t>(recording.duration_ns, 1);
  if (!recording.samples.empty()) ns = std::max(ns, recording.samples.back().time_ns);
  return ns;
}

// Collects the samples of one thread. Only the sums of the current bucket are kept, and are dropped when the next
// bucket begins.
class StripBuilder {
 public:
  StripBuilder(std::uint64_t length_ns, std::uint32_t buckets) : length_ns_(length_ns), buckets_(buckets) {}

  // Samples come in the order of their ends. The part of a sample before the end of the previous sample does not count.
  void add(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint32_t stack) {
    begin_ns = std::max(begin_ns, last_end_ns_);
    last_end_ns_ = std::max(last_end_ns_, end_ns);
    const std::uint32_t last = bucket(end_ns);
    for (std::uint32_t at = std::min(bucket(begin_ns), last); at <= last; ++at) {
      const std::uint64_t from = std::max(begin_ns, start(at));
      const std::uint64_t to = std::min(end_ns, start(at + 1));
      put(at, stack, to > from ? to - from : 0);
    }
  }

  TimeStrip finish() {
    flush();
    return std::move(strip_);
  }

 private:
  std::uint32_t bucket(std::uint64_t ns) const {
    // No integers are used, because the product of a time and the buckets may be too large for 64 bits.
    const double at = static_cast<double>(ns) / static_cast<double>(length_ns_) * buckets_;
    return static_cast<std::uint32_t>(std::min(at, static_cast<double>(buckets_ - 1)));
  }
  std::uint64_t start(std::uint32_t at) const {
    // The end of the longest strip, as a double, is one more than the largest 64-bit number.
    return at >= buckets_ ? length_ns_ : static_cast<std::uint64_t>(static_cast<double>(length_ns_) / buckets_ * at);
  }

  void put(std::uint32_t at, std::uint32_t stack, std::uint64_t ns) {
    if (at != bucket_) flush();
    bucket_ = at;
    const auto known = std::ranges::find(spent_, stack, &Spent::stack);
    if (known != spent_.end()) {
      known->ns += ns;
    } else {
      spent_.push_back({stack, ns});
    }
  }

  void flush() {
    if (spent_.empty()) return;
    const auto most = std::ranges::max_element(spent_, {}, &Spent::ns);
    auto& stretches = strip_.stretches;
    if (!stretches.empty() && stretches.back().stack == most->stack &&
        stretches.back().first + stretches.back().count == bucket_) {
      ++stretches.back().count;
    } else if (stretches.empty() || stretches.back().first + stretches.back().count <= bucket_) {
      stretches.push_back({bucket_, 1, most->stack});
    }
    spent_.clear();
  }

  struct Spent {
    std::uint32_t stack = 0;
    std::uint64_t ns = 0;
  };

  const std::uint64_t length_ns_;
  const std::uint32_t buckets_;
  std::uint64_t last_end_ns_ = 0;
  std::uint32_t bucket_ = 0;
  std::vector<Spent> spent_;  // in the current bucket
  TimeStrip strip_;
};

}  // namespace

std::uint32_t bucket_count(std::size_t threads) noexcept {
  const std::size_t each = kAllBuckets / std::max<std::size_t>(threads, 1);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(each, kMinBuckets, kMaxBuckets));
}

std::vector<TimeStrip> time_strips(const Recording& recording, const std::vector<std::uint32_t>& stacks,
                                   std::uint32_t buckets) {
  const bool over_time = unit(recording.event) == "nanoseconds";
  const std::uint64_t length_ns = length_of(recording);
  std::vector<TimeStrip> strips;
  for (const auto& samples : samples_by_thread(recording)) {
    StripBuilder builder(length_ns, buckets);
    for (const std::uint32_t i : samples) {
      const Recording::Sample& sample = recording.samples[i];
      const std::uint64_t ns = over_time ? std::min(sample.value, sample.time_ns) : 0;
      builder.add(sample.time_ns - ns, sample.time_ns, stacks[i]);
    }
    strips.push_back(builder.finish());
  }
  return strips;
}

}  // namespace mixwalk
