#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "walker/hang/history.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// What dumps are of the same process: a number for each dump, from 0 on. The same id and the same path (as far as both
// are known).
std::vector<std::uint32_t> same_processes(std::span<const Snapshot> dumps);

// Processor time below which a thread counts as one that did not run, in units of 100 ns: more than one tick of the
// system's clock (15.6 ms on Windows, 10 ms under Wine). Folklore: to stop a thread and to resume it is counted as its
// own time, and a tick is counted as a whole; one of some thirty looks at threads that stood gave one of them a tick.
inline constexpr std::uint64_t kNoCpu = 160'000;
// A thread spins if it ran for more than this part of the time: 1 / kSpinShare.
inline constexpr std::uint64_t kSpinShare = 2;

// The threads of dumps of one process, in the order of their time: by OS id, and where dumps know it by when a thread
// began. Their waits are looked up, and verdicts are given. `numbers`: the indices of those dumps in `dumps`,
// ascending. `functions`: function_ids() of each of `dumps`. Threads are sorted by OS id.
std::vector<ThreadHistory> match_threads(std::span<const Snapshot> dumps, std::span<const std::uint32_t> numbers,
                                         std::span<const std::vector<std::vector<std::uint64_t>>> functions);

}  // namespace mixwalk
