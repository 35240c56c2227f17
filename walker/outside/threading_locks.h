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

// Address behind the part of a thread's stack that knows the System.Threading.Lock that the thread waits for: it stands
// in a wait of Lock.TryEnterSlow, by the names of its managed frames. Nothing: it waits for none.
std::optional<std::uint64_t> threading_wait_end(const Thread& thread);

// The one of these locks (by their addresses) that a thread waits for in whose registers and stack these words are.
// Both the lock and its event are among the words: Lock.TryEnterSlow needs them again after the wait. A lock that the
// thread holds itself (`owner`: as ClrLock::owner names the thread; 0: unknown) is none. Zero: there is no such lock,
// or more than one.
std::uint64_t lock_waited_for(std::span<const std::uint64_t> words, const std::map<std::uint64_t, ClrLock>& locks,
                              std::uint32_t owner);

// Whether add_threading_locks() would look at any thread.
bool has_threading_waits(const Snapshot& snapshot);

// Adds the locks of this kind that threads wait for, to a snapshot whose managed frames have names. Each such thread is
// captured again, before and after the locks are read: only what belongs to a thread that stood still all the time, and
// what was read twice alike, is added. Where the runtime's debugging library does not answer, where the time is over
// and where too many threads wait, Snapshot::locks_missing says so. Not frozen-safe.
void add_threading_locks(Snapshot& snapshot, Target& target, ClrQuestions& clr, const MonitorLimits& limits = {});

}  // namespace mixwalk
