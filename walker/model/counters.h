#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "walker/model/percentiles.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The cost of one visit's samples for the target, and how these samples ended. A value.
struct Counters {
  std::uint64_t samples = 0;  // threads that were frozen
  std::uint64_t skipped = 0;  // threads that gave no stack
  std::uint64_t whole = 0, guessed = 0;  // by Completeness; the others are partial
  // frozen: how long threads were frozen. stopping: how long the system took before that to stop them.
  Percentiles frozen, stopping;
  std::uint64_t fallbacks = 0;      // samples walked from the copy though the CLR's walk was wanted
  std::map<std::uint32_t, std::uint64_t> refusals;  // HRESULT of DoStackSnapshot → how often
  std::uint64_t not_asked = 0;      // samples of threads that may hold a lock of the runtime (Thread::at_risk)
  std::uint64_t probes_run = 0, probes_failed = 0;
  std::uint64_t interventions = 0;  // freezes that the supervisor ended
  std::uint64_t copies_cut = 0;
  std::uint64_t runs_closed = 0, runs_root = 0, runs_open = 0;
  std::array<std::uint64_t, kOpenReasons> open_by_reason{};  // by OpenReason
  std::array<std::uint64_t, kCallChecks> calls{};  // native frames by CallCheck, of a symbolised dump
  BreakerState breaker;

  // How many native frames had their calls checked, and which share of these calls is verified (0 to 1).
  std::uint64_t calls_checked() const noexcept;
  double calls_verified() const noexcept;

  bool operator==(const Counters&) const = default;
};

// Counts samples as they come. Not frozen-safe.
class CountersBuilder {
 public:
  void add(const Thread& thread);
  Counters finish(const BreakerState& breaker);

 private:
  Counters counters_;
  std::vector<std::uint64_t> frozen_ns_, stopping_ns_;
};

Counters count(const Snapshot& snapshot);

}  // namespace mixwalk
