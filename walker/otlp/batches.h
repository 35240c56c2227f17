#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "walker/model/recording.h"
#include "walker/otlp/sender.h"

namespace mixwalk {

// Offers a recording in progress to a sender, one batch at a time. take() and cut() never wait: while the sender takes
// no batch, the current batch grows. Samples beyond kMaxSamples are left out and counted.
class OtlpBatches {
 public:
  static constexpr std::chrono::milliseconds kEvery{10'000};

  explicit OtlpBatches(OtlpSender& sender) : OtlpBatches(sender, kEvery) {}
  OtlpBatches(OtlpSender& sender, std::chrono::milliseconds every)
      : sender_(sender), every_(every) {}

  // Takes the new samples of `recording`: those from the index `first` on.
  void take(const Recording& recording, std::size_t first);
  // To be called before the recording begins anew, with empty tables and with times from 0. If the sender has no room
  // for the current batch, the batch is left out.
  void cut(const Recording& recording);
  // Offers the last batch. Returns how many samples were left out.
  std::uint64_t finish(const Recording& recording);

 private:
  // This many samples take 40 MiB. A large process has them, at the full rate and for all threads, while the disk does
  // not respond for a minute.
  static constexpr std::size_t kMaxSamples = 1'000'000;

  void offer(const Recording& recording, std::uint64_t end_ns);

  OtlpSender& sender_;
  const std::chrono::milliseconds every_;
  std::chrono::steady_clock::time_point offered_ = std::chrono::steady_clock::now();
  std::vector<Recording::Sample> samples_;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace mixwalk
