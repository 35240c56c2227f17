#pragma once

#include <string>

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/outside/outside_walk.h"
#include "walker/target/target.h"

namespace mixwalk {

// The text of Snapshot::locks_missing for a snapshot whose locks were not looked for.
inline constexpr char kLocksNotLookedFor[] = "mixwalk did not look for locks (--no-locks)";

// What is looked for besides stacks.
struct WaitSearch {
  bool locks = true;  // the locks of managed code, and the tasks for which threads wait
  bool heap = false;  // also the tasks for which no thread waits
};

// The stacks of a target with the names of its managed frames. This is walk_outside() together with the runtime's
// debugging library. `clr` is null if the library cannot be asked; `obstacle` then says why (empty if there is no
// runtime). Snapshot::unasked says why frames or names are missing. Not frozen-safe.
Snapshot target_snapshot(Target& target, ClrQuestions* clr, const std::string& obstacle,
                         const std::function<bool(const TargetThread&)>& wanted, const WaitSearch& search = {},
                         const OutsideLimits& limits = {});

}  // namespace mixwalk
