#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>

namespace mixwalk {

// How long to wait before the next try. The time doubles with each try, and is random, so that senders do not try at
// the same moment.
class BackOff {
 public:
  static constexpr std::chrono::milliseconds kFirst{1'000}, kMax{10'000};

  explicit BackOff(std::uint32_t seed) : random_(seed) {}

  // Between half of the due time and all of it, but no less than the collector asked for.
  std::chrono::milliseconds next(std::optional<std::chrono::seconds> asked) {
    std::uniform_int_distribution<std::chrono::milliseconds::rep> jitter(due_.count() / 2,
                                                                         due_.count());
    const std::chrono::milliseconds wait(jitter(random_));
    due_ = std::min(due_ * 2, kMax);
    return asked ? std::max<std::chrono::milliseconds>(wait, *asked) : wait;
  }
  void reset() noexcept { due_ = kFirst; }

 private:
  std::mt19937 random_;
  std::chrono::milliseconds due_ = kFirst;
};

}  // namespace mixwalk
