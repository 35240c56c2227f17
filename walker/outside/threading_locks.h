#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "walker/model/snapshot.h"
#include "walker/outside/clr_questions.h"
#include "walker/outside/monitors.h"
#include "walker/outside/target.h"

namespace mixwalk {

// The address behind the part of a thread's stack that contains the System.Threading.Lock for which the thread waits:
// by the names of its managed frames, the thread is in a wait of Lock.TryEnterSlow. Returns nothing if the thread waits
// for no such lock.
std::optional<std::uint64_t> threading_wait_end(const Thread& thread);

// The one of these locks (by their addresses) for which a thread with these words in its registers and stack waits.
// Both the lock and its event are among the words, since Lock.TryEnterSlow needs them again after the wait. A lock that
// the thread itself holds does not count (`owner`: the thread's id as in ClrLock::owner; 0 if unknown). Zero: there is
// no such lock, or more than one.
std::uint64_t lock_waited_for(std::span<const std::uint64_t> words, const std::map<std::uint64_t, ClrLock>& locks,
                              std::uint32_t owner);

// Whether add_threading_locks() would look at any thread.
bool has_threading_waits(const Snapshot& snapshot);

// Adds the locks of this kind for which threads wait, to a snapshot whose managed frames have names. Each such thread
// is captured again, before and after the locks are read: only locks of threads that stood still in between, and only
// locks that were read twice with the same result, are added. Where the runtime's debugging library does not answer,
// where the time is over and where too many threads wait, Snapshot::locks_missing says so. Not frozen-safe.
void add_threading_locks(Snapshot& snapshot, Target& target, ClrQuestions& clr, const MonitorLimits& limits = {});

}  // namespace mixwalk
