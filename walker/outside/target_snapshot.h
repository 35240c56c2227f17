#pragma once

#include <string>

#include "walker/model/snapshot.h"
#include "walker/outside/clr_questions.h"
#include "walker/outside/outside_walk.h"
#include "walker/outside/target.h"

namespace mixwalk {

// Snapshot::locks_missing of a snapshot whose locks were not looked for.
inline constexpr char kLocksNotLookedFor[] = "mixwalk did not look for locks (--no-locks)";

// The stacks of a target with the names of its managed frames: walk_outside() together with the runtime's debugging
// library. `clr`: null where the library cannot be asked; `obstacle` then says why (empty: there is no runtime).
// Snapshot::unasked says which answers were missing. Snapshot::locks has the locks of managed code. Not frozen-safe.
// `locks`: false: locks are not looked for.
Snapshot target_snapshot(Target& target, ClrQuestions* clr, const std::string& obstacle,
                         const std::function<bool(const TargetThread&)>& wanted, bool locks = true);

}  // namespace mixwalk
