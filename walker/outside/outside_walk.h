#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "walker/managed_code.h"
#include "walker/model/snapshot.h"
#include "walker/outside/jitted_step.h"
#include "walker/outside/target.h"

namespace mixwalk {

// Says of every address that it is not managed code: for a target whose runtime is not asked.
class NoManagedCode final : public ManagedCode {
 public:
  Function at(std::uint64_t) noexcept override { return {}; }
};

// What is known of a target beside its memory.
struct OutsideKnowledge {
  ManagedCode& managed;
  JittedStep* jitted = nullptr;  // null: code outside the images is not unwound, where a runtime is in the target
  // Which threads are walked; empty: all.
  std::function<bool(const TargetThread&)> wanted;
  // Makes `managed` and `jitted` forget what they know of a target that has run since. Returns false if they know no
  // more afterwards, since the target does not run or the runtime's library does not answer. Frames of `so_far` get
  // their names before that: afterwards a FunctionID may mean another method. Empty: nothing is asked anew.
  std::function<bool(Snapshot& so_far)> ask_anew;
};

// The limit for all stacks together. A dump can list thousands of threads that share one deep stack.
struct OutsideLimits {
  std::chrono::milliseconds time = std::chrono::minutes(2);
  // The least time between two calls of OutsideKnowledge::ask_anew(), after which everything is read again.
  std::chrono::milliseconds between_asking_anew{100};
  std::size_t frames = 2'000'000;
};

// The stacks of a target: each thread is captured, walked by the images' unwind data and merged like the stacks of a
// live process, guesses included. Managed frames have the FunctionIDs that `managed` gives, and no names. A thread that
// could not be captured, or that came after the limits were used up, is skipped, with the reason. Not frozen-safe.
//
// Where the target has a runtime whose jitted code is unknown, a walk that reaches such code ends there with a gap
// (no_unwind). Frames of ReadyToRun images that `managed` does not know are stubs of their image.
Snapshot walk_outside(Target& target, const OutsideKnowledge& knowledge, const OutsideLimits& limits = {});

}  // namespace mixwalk
