#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "walker/hang/history.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// For each dump, the number of its process, from 0 on. Dumps of the same process have the same id, the same path (as
// far as both paths are known), and at least one thread in common (unless that is unknown because a dump was made with
// --thread).
std::vector<std::uint32_t> same_processes(std::span<const Snapshot> dumps);

// A thread that used less processor time than this between two dumps counts as one that did not run. In units of
// 100 ns. It is more than one tick of the system's clock on Windows (15.6 ms) and more than two under Wine (10 ms each;
// Wine counts the user's time and the kernel's separately). Folklore: the time for stopping and resuming a thread is
// charged to that thread, and a tick is charged as a whole. Real case: in one of some thirty looks at threads that did
// not run, one of them was charged a tick. On a busy machine a thread was once charged two ticks in a series of three
// dumps.
inline constexpr std::uint64_t kNoCpu = 210'000;
// A thread spins if it ran for more than this part of the time: 1 / kSpinShare.
inline constexpr std::uint64_t kSpinShare = 2;

// A thread that waits at the same place in two dumps may have polled all the time if it ran for less than this part of
// the time: 1 / kPollShare. Real case: a thread that waited for 5 ms again and again used 30 ms in 10 s. (At a distance
// of one second, kNoCpu is this part of the time.)
inline constexpr std::uint64_t kPollShare = 50;

// The processor time that a thread used from one dump to a later one, in units of 100 ns; nothing if unknown.
std::optional<std::uint64_t> cpu_between(std::span<const Snapshot> dumps, const Sighting& a, const Sighting& b);
// The time between the two dumps, in milliseconds; 0 if unknown.
std::uint64_t time_between(std::span<const Snapshot> dumps, const Sighting& a, const Sighting& b);

// Whether the queue of the BlockingCollection in which a thread waits has moved from one dump to a later one, as far as
// is known.
bool queue_moved(std::span<const Snapshot> dumps, const Sighting& a, const Sighting& b);

// The histories of the threads in the dumps of one process, in the order of time. A thread is identified by its OS id
// and, if dumps contain it, by the time when it began. This finds out their waits and their verdicts. `numbers`: the
// indices of the process's dumps in `dumps`, ascending. `functions`: function_ids() of each of `dumps`. The result is
// sorted by OS id.
std::vector<ThreadHistory> match_threads(std::span<const Snapshot> dumps, std::span<const std::uint32_t> numbers,
                                         std::span<const std::vector<std::vector<std::uint64_t>>> functions);

}  // namespace mixwalk
