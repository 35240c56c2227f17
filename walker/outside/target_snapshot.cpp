#include "walker/outside/target_snapshot.h"

#include <unordered_map>

#include "walker/clr/clr_jitted_step.h"
#include "walker/clr/questioned_code.h"
#include "walker/locks/managed_waits.h"
#include "walker/locks/target_locks.h"
#include "walker/locks/target_tasks.h"
#include "walker/outside/handled_exceptions.h"
#include "walker/outside/managed_exception.h"

namespace mixwalk {
namespace {

void add_clr_threads(Snapshot& snapshot, ClrQuestions& clr) {
  std::unordered_map<std::uint32_t, std::uint64_t> addresses;
  for (const ClrThread& thread : clr.threads()) {
    if (thread.os_id != 0) addresses.emplace(thread.os_id, thread.address);
  }
  for (Thread& thread : snapshot.threads) {
    if (const auto known = addresses.find(thread.os_id); known != addresses.end()) thread.clr_id = known->second;
  }
}

}  // namespace

Snapshot target_snapshot(Target& target, ClrQuestions* clr, const std::string& obstacle,
                         const std::function<bool(const TargetThread&)>& wanted, const WaitSearch& search,
                         const OutsideLimits& limits) {
  NoManagedCode nothing;
  if (clr == nullptr) {
    // The program may have registered another function table since its list was read.
    const auto ask_anew = [&](Snapshot&) { return target.drop_memory(); };
    Snapshot snapshot = walk_outside(target, {.managed = nothing, .wanted = wanted, .ask_anew = ask_anew}, limits);
    snapshot.unasked = snapshot.locks_missing = obstacle;
    if (search.heap) snapshot.tasks_missing = obstacle;
    return snapshot;
  }
  QuestionedCode managed(*clr);
  ClrJittedStep jitted(*clr, target.memory());
  const auto ask_anew = [&](Snapshot& so_far) {
    if (!clr->obstacle().empty()) return false;
    name_functions(so_far, *clr);
    if (!clr->obstacle().empty() || !target.drop_memory()) return false;
    jitted.forget();
    clr->target_ran();
    return clr->obstacle().empty();
  };
  Snapshot snapshot = walk_outside(
      target,
      {.managed = managed,
       .jitted = &jitted,
       .wanted = wanted,
       .ask_anew = ask_anew,
       .calls_of = [&](std::uint32_t os_id, const StackCopy& stack) { return clr->calls_of(os_id, stack); }},
      limits);
  name_functions(snapshot, *clr);
  // If the library fails later, no frame and no name is missing.
  snapshot.unasked = clr->obstacle();
  add_clr_threads(snapshot, *clr);
  add_managed_exceptions(snapshot, target.memory(), *clr);
  add_handled_exceptions(snapshot, target, *clr);
  snapshot.locks_missing = kLocksNotLookedFor;
  if (search.locks) add_managed_waits(snapshot, target, *clr, {.heap = search.heap});
  // This comes last, so that only lines are missing if the library fails here.
  add_il_places(snapshot, *clr);
  return snapshot;
}

}  // namespace mixwalk
