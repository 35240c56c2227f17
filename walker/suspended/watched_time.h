#pragma once

#include <algorithm>
#include <cstdint>

namespace mixwalk {

// The time for which a thread has watched something by looking at it again and again. The time between two looks counts
// for no more than `longest_gap`, or a tenth of the limit if that is longer. So a rule of the form "late after this
// time" also demands a number of looks, all made while the watching thread itself ran. Frozen-safe. The unit of time is
// the caller's. One thread uses it.
//
// Folklore: machines stand still: a virtual machine is moved, a processor is taken away, memory is swapped. Afterwards
// a clock says that seconds have passed, although nothing had a chance to run. Real case: all programs of a machine
// were stopped for some seconds, and mixwalk.exe took a suspension for overdue at its first look afterwards, before
// the target had continued. Test: FreezeWatchTest.AMachineThatStoodStillMakesNothingOverdue.
class WatchedTime {
 public:
  // `limit`: the time after which the caller calls something late. On a busy machine looks may come half a second
  // apart, and a limit of seconds must nevertheless be reached in some seconds.
  explicit constexpr WatchedTime(std::uint64_t longest_gap, std::uint64_t limit = 0) noexcept
      : longest_gap_(std::max(longest_gap, limit / 10)) {}

  void set_limit(std::uint64_t longest_gap, std::uint64_t limit) noexcept {
    longest_gap_ = std::max(longest_gap, limit / 10);
  }
  // To be called at each look. Returns the watched time since the first look.
  constexpr std::uint64_t look(std::uint64_t now) noexcept {
    if (any_ && now > last_) watched_ += std::min(now - last_, longest_gap_);
    any_ = true;
    last_ = now;
    return watched_;
  }
  constexpr std::uint64_t watched() const noexcept { return watched_; }

 private:
  std::uint64_t longest_gap_;
  std::uint64_t last_ = 0, watched_ = 0;
  bool any_ = false;
};

}  // namespace mixwalk
