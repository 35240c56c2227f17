#include "walker/profiler/thread_cpu_clock.h"

#include <cpuid.h>
#include <x86intrin.h>

#include "walker/base/win/file_time.h"

namespace mixwalk {
namespace {

// A cycle is measured for at least the first time, and again until the second time has passed. The system's clock has
// steps of 100 ns, so the first result is exact to 0.01 %.
constexpr std::uint64_t kLeastNs = 1'000'000, kEnoughNs = 1'000'000'000;
// A thread may lose its processor between the readings of two clocks. This many pairs are read, and the closest counts.
constexpr int kReadings = 8;
// From 100 MHz to 20 GHz. Anything else is not the speed of a processor.
constexpr double kShortestCycleNs = 0.05, kLongestCycleNs = 10;

}  // namespace

bool CpuCounters::cycles_are_steady() const noexcept {
  constexpr unsigned kPowerManagement = 0x8000'0007, kInvariant = 1u << 8;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(kPowerManagement, &eax, &ebx, &ecx, &edx) != 0 && (edx & kInvariant) != 0;
}

std::uint64_t CpuCounters::cycles() const noexcept { return __rdtsc(); }

std::uint64_t CpuCounters::thread_cycles(HANDLE thread) const noexcept {
  ULONG64 cycles = 0;
  return QueryThreadCycleTime(thread, &cycles) ? cycles : 0;
}

std::uint64_t CpuCounters::thread_ns(HANDLE thread) const noexcept {
  FILETIME unused, kernel, user;
  return GetThreadTimes(thread, &unused, &unused, &kernel, &user) ? (ticks_of(kernel) + ticks_of(user)) * kNsOfTick : 0;
}

ThreadCpuClock::ThreadCpuClock(const CpuCounters& counters) noexcept
    : counters_(counters),
      // This thread has certainly used some.
      counts_cycles_(counters.cycles_are_steady() && counters.thread_cycles(GetCurrentThread()) != 0),
      begun_(moment()) {}

ThreadCpuClock::Moment ThreadCpuClock::moment() const noexcept {
  Moment best;
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < kReadings; ++i) {
    const std::uint64_t before = counters_.cycles();
    const std::uint64_t ns = counters_.now_ns();
    const std::uint64_t apart = counters_.cycles() - before;  // huge if the counter goes backwards
    if (apart >= least) continue;
    least = apart;
    best = {before + apart / 2, ns};
  }
  return best;
}

void ThreadCpuClock::measure_cycle() noexcept {
  if (measured_ns_ >= kEnoughNs) return;
  const Moment now = moment();
  const std::uint64_t ns = now.ns - begun_.ns;
  if (ns < kLeastNs) return;
  const double cycles = static_cast<double>(now.cycles) - static_cast<double>(begun_.cycles);
  const double cycle = static_cast<double>(ns) / cycles;
  if (!(cycle >= kShortestCycleNs && cycle <= kLongestCycleNs)) {
    counts_cycles_ = false;
    return;
  }
  ns_per_cycle_ = cycle;
  measured_ns_ = ns;
}

CpuMark ThreadCpuClock::mark(HANDLE thread) const noexcept {
  return {counts_cycles_ ? counters_.thread_cycles(thread) : counters_.thread_ns(thread), counts_cycles_};
}

std::uint64_t ThreadCpuClock::since(HANDLE thread, CpuMark& mark) noexcept {
  if (counts_cycles_) measure_cycle();
  const CpuMark now = this->mark(thread);
  if (now.in_cycles != mark.in_cycles) {
    mark = now;
    return 0;
  }
  if (now.value <= mark.value || (now.in_cycles && ns_per_cycle_ == 0)) return 0;
  const std::uint64_t used = now.value - mark.value;
  mark = now;
  return now.in_cycles ? static_cast<std::uint64_t>(static_cast<double>(used) * ns_per_cycle_) : used;
}

}  // namespace mixwalk
