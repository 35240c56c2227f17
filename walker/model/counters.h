#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// What the samples of one visit cost the target, and how they ended. A value.
struct Counters {
  std::uint64_t samples = 0;  // threads that were frozen
  std::uint64_t skipped = 0;  // threads that gave no stack
  std::uint64_t whole = 0;
  std::uint64_t frozen_p50_ns = 0, frozen_p99_ns = 0, frozen_max_ns = 0;
  std::uint64_t fallbacks = 0;      // samples walked from the copy though the CLR's walk was wanted
  std::map<std::uint32_t, std::uint64_t> refusals;  // HRESULT of DoStackSnapshot → how often
  std::uint64_t probes_run = 0, probes_failed = 0;
  std::uint64_t interventions = 0;  // freezes that the supervisor ended
  std::uint64_t copies_cut = 0;
  std::uint64_t runs_closed = 0, runs_root = 0, runs_open = 0;
  std::array<std::uint64_t, kOpenReasons> open_by_reason{};  // by OpenReason
  BreakerState breaker;

  bool operator==(const Counters&) const = default;
};

// Counts samples as they come. Not frozen-safe.
class CountersBuilder {
 public:
  void add(const Thread& thread);
  // `engine`: the one that was asked for.
  Counters finish(const BreakerState& breaker);

 private:
  Counters counters_;
  std::vector<std::uint64_t> frozen_ns_;
};

Counters count(const Snapshot& snapshot);

}  // namespace mixwalk
