#include "walker/otlp/batches.h"

#include <algorithm>
#include <thread>

#include "walker/model/recording_slice.h"

namespace mixwalk {

void OtlpBatches::take(const Recording& recording, std::size_t first) {
  const std::size_t room = kMaxSamples - samples_.size();
  const std::size_t fresh = recording.samples.size() - first;
  const auto begin = recording.samples.begin() + static_cast<std::ptrdiff_t>(first);
  samples_.insert(samples_.end(), begin,
                  begin + static_cast<std::ptrdiff_t>(std::min(room, fresh)));
  left_out_ += fresh - std::min(room, fresh);
  const auto now = std::chrono::steady_clock::now();
  if (samples_.empty() || now - offered_ < every_ || !sender_.has_room()) return;
  offer(recording, samples_.back().time_ns);
  offered_ = now;
}

void OtlpBatches::cut(const Recording& recording) {
  if (!samples_.empty() && sender_.has_room()) {
    offer(recording, std::max(recording.duration_ns, samples_.back().time_ns));
  }
  left_out_ += samples_.size();
  samples_.clear();
  begin_ns_ = 0;
}

std::uint64_t OtlpBatches::finish(const Recording& recording) {
  if (samples_.empty()) return left_out_;
  // There is no other work at this point. So this function may wait, but only for the disk.
  while (!sender_.has_room()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  offer(recording, std::max(recording.duration_ns, samples_.back().time_ns));
  return left_out_;
}

void OtlpBatches::offer(const Recording& recording, std::uint64_t end_ns) {
  sender_.offer(recording_slice(recording, samples_, begin_ns_, end_ns));
  samples_.clear();
  begin_ns_ = end_ns;
}

}  // namespace mixwalk
