#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mixwalk {

// How many threads a recording freezes together. All of them stand until the last one has come to stand
// and is copied, so their number follows from how long the last groups stood. Pure; nanoseconds.
class GroupSize {
 public:
  static constexpr std::size_t kFirst = 8, kMost = 128;

  // `deadline_ns`: when the supervisor lets a group go. A group is to stand for a part of it.
  explicit GroupSize(std::uint64_t deadline_ns) noexcept : wanted_ns_(deadline_ns / kPart) {}

  std::size_t threads() const noexcept { return threads_; }

  // A group of so many threads has stood for so long. A group that took too long makes the next one smaller
  // at once; one that took less than it might lets it grow by no more than its double.
  void took(std::size_t threads, std::uint64_t stood_ns) noexcept {
    if (threads == 0) return;
    const std::uint64_t each_ns = std::max<std::uint64_t>(stood_ns / threads, 1);
    const std::uint64_t fitting = std::min<std::uint64_t>(wanted_ns_ / each_ns, 2 * threads_);
    // A small group says little of a large one.
    if (fitting > threads_ && threads < threads_) return;
    threads_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(fitting, 1, kMost));
  }

 private:
  static constexpr std::uint64_t kPart = 4;

  std::uint64_t wanted_ns_;
  std::size_t threads_ = kFirst;
};

}  // namespace mixwalk
