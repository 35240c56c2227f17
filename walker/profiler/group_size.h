#pragma once

#include <algorithm>
#include <cstddef>

namespace mixwalk {

// How many threads a recording freezes together. The more threads of a busy program are suspended, the sooner the other
// threads of the group stop; but all of them stay suspended until the last one is copied. So a group is as large as can
// be copied before its deadline. Pure.
class GroupSize {
 public:
  static constexpr std::size_t kFirst = 16, kMin = 4, kMax = 64;

  std::size_t threads() const noexcept { return threads_; }

  // Reports how many threads the group had, and how many were not copied before the supervisor resumed the group.
  void took(std::size_t threads, std::size_t late) noexcept {
    if (late != 0) {
      threads_ = std::max(threads - std::min(late, threads), kMin);
    } else if (threads == threads_) {
      threads_ = std::min(threads_ + threads_ / 4, kMax);
    }
  }

 private:
  std::size_t threads_ = kFirst;
};

}  // namespace mixwalk
