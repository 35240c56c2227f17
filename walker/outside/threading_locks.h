#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "walker/model/snapshot.h"
#include "walker/outside/clr_questions.h"
#include "walker/outside/monitors.h"
#include "walker/outside/target.h"

namespace mixwalk {

// For a thread that is, by the names of its managed frames, in a wait of Lock.TryEnterSlow: the end address of the part
// of its stack that contains the address of the System.Threading.Lock. Returns nothing if the thread waits for no such
// lock.
std::optional<std::uint64_t> threading_wait_end(const Thread& thread);

// The addresses of those of these locks for which a thread with these words in its registers and stack may wait. `locks`
// are by address. Both the lock and its event are among the words, since Lock.TryEnterSlow needs them again after the
// wait. A lock that the thread itself holds does not count (`owner`: the thread's id as in ClrLock::owner; 0 if
// unknown).
std::set<std::uint64_t> locks_waited_for(std::span<const std::uint64_t> words,
                                         const std::map<std::uint64_t, ClrLock>& locks, std::uint32_t owner);
// The same if there is one such lock. Returns 0 if there is none, or more than one.
std::uint64_t lock_waited_for(std::span<const std::uint64_t> words, const std::map<std::uint64_t, ClrLock>& locks,
                              std::uint32_t owner);

// Whether add_threading_locks() would capture any thread.
bool has_threading_waits(const Snapshot& snapshot);

// Adds the System.Threading.Locks for which threads wait, to a snapshot whose managed frames have names. Each such
// thread is captured again, before and after the locks are read. Only locks that were read twice with the same result
// are added, and only if their thread did not move in between. Snapshot::locks_missing says so if the runtime's
// debugging library does not answer, if the time is over, or if too many threads wait. Not frozen-safe.
void add_threading_locks(Snapshot& snapshot, Target& target, ClrQuestions& clr, const MonitorLimits& limits = {});

}  // namespace mixwalk
