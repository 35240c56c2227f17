#pragma once

#include <algorithm>
#include <cstdint>

namespace mixwalk {

// How often samples may be taken so that recording takes no more than a given share of the target's capacity. Recording
// takes two things from the target: the CPU time of our threads, as a part of the time of all processors; and the time
// for which threads with work were suspended, as a part of the time of these threads. No more threads can work at once
// than there are processors. Pure; times in nanoseconds by one clock.
class RecordBudget {
 public:
  // `share`: 0.05 for 5 %; 0 means no budget. `wanted_ns`: the period that was asked for.
  RecordBudget(double share, unsigned processors, std::uint64_t wanted_ns) noexcept
      : share_(share),
        processors_(std::max(processors, 1u)),
        wanted_ns_(wanted_ns),
        period_ns_(wanted_ns) {}

  // Our threads had used `cpu_ns` of CPU time at `now_ns`.
  void begin(std::uint64_t now_ns, std::uint64_t cpu_ns) noexcept {
    begun_ns_ = now_ns;
    cpu_ns_ = cpu_ns;
  }
  // A thread that had work was frozen by itself.
  void add_thread(std::uint64_t frozen_ns) noexcept { add_group(1, frozen_ns); }
  // `threads` that had work were frozen together. Only as many of them as there are processors could have worked in
  // that time.
  void add_group(std::size_t threads, std::uint64_t frozen_ns) noexcept {
    working_ += threads;
    frozen_ns_ += static_cast<std::uint64_t>(std::min(static_cast<double>(threads), processors_) *
                                             static_cast<double>(frozen_ns));
  }
  // A thread that was counted already was frozen once more.
  void add_again(std::uint64_t frozen_ns) noexcept { frozen_ns_ += frozen_ns; }
  // One round of samples is over.
  void end_round() noexcept { ++rounds_; }
  // Whether the next reading of cpu_ns is due. Each reading costs a system call or two.
  bool is_due(std::uint64_t now_ns) const noexcept {
    return share_ > 0 && rounds_ != 0 && now_ns - begun_ns_ >= (measured_ ? kWindowNs : kFirstNs);
  }
  void measure(std::uint64_t now_ns, std::uint64_t cpu_ns) noexcept {
    const auto rounds = static_cast<double>(rounds_);
    const double width = std::clamp(static_cast<double>(working_) / rounds, 1.0, processors_);
    const double taken = static_cast<double>(cpu_ns - cpu_ns_) / processors_ +
                         static_cast<double>(frozen_ns_) / width;
    const double needed = taken / rounds / share_;
    // A thread's CPU time may come in ticks of 10 to 16 ms (ThreadCpuClock), so one reading alone is not exact.
    needed_ns_ = measured_ ? (needed_ns_ + needed) / 2 : needed;
    measured_ = true;
    const double period = std::clamp(needed_ns_, static_cast<double>(wanted_ns_),
                                     static_cast<double>(std::max(kLongestNs, wanted_ns_)));
    period_ns_ = static_cast<std::uint64_t>(period);
    rounds_ = 0;
    working_ = 0;
    frozen_ns_ = 0;
    begin(now_ns, cpu_ns);
  }

  std::uint64_t period_ns() const noexcept { return period_ns_; }
  bool lengthened() const noexcept { return period_ns_ > wanted_ns_; }

 private:
  static constexpr std::uint64_t kFirstNs = 100'000'000, kWindowNs = 1'000'000'000;
  static constexpr std::uint64_t kLongestNs = 10'000'000'000;

  double share_;
  double processors_;
  std::uint64_t wanted_ns_, period_ns_;
  std::uint64_t begun_ns_ = 0, cpu_ns_ = 0;
  std::uint64_t rounds_ = 0, working_ = 0, frozen_ns_ = 0;  // since the last measurement
  double needed_ns_ = 0;
  bool measured_ = false;
};

}  // namespace mixwalk
