#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "walker/clr/jitted_step.h"
#include "walker/merge/managed_code.h"
#include "walker/merge/runtime_call.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Says for every address that it is not managed code. For a target whose runtime is not asked.
class NoManagedCode final : public ManagedCode {
 public:
  Function at(std::uint64_t) noexcept override { return {}; }
};

// The knowledge about a target besides its memory.
struct OutsideKnowledge {
  ManagedCode& managed;
  JittedStep* jitted = nullptr;  // null: with a runtime in the target, code outside the images is not unwound
  // Whether a thread is walked; if empty, all are.
  std::function<bool(const TargetThread&)> wanted;
  // Makes `managed` and `jitted` forget what they know about a target that has run since. Before that, frames of
  // `so_far` get their names, because afterwards a FunctionID may mean another method. Returns false if the target does
  // not run, or if the runtime's library does not answer; nothing new is known then, and it is not called again. If
  // empty, nothing is asked anew.
  std::function<bool(Snapshot& so_far)> ask_anew;
  // The calls from managed to native code that a thread of the system is in, as the runtime has noted them. If empty,
  // none are known.
  std::function<std::vector<RuntimeCall>(std::uint32_t os_id, const StackCopy& stack)> calls_of = {};
};

// The limit for all stacks together. A dump can list thousands of threads that share one deep stack.
struct OutsideLimits {
  std::chrono::milliseconds time = std::chrono::minutes(2);
  // The least time between two calls of OutsideKnowledge::ask_anew(). For code that is not known, this much time also
  // passes before the first call.
  std::chrono::milliseconds between_asking_anew{100};
  std::size_t frames = 2'000'000;
};

// The stacks of a target. Each thread is captured, walked by the images' unwind data and merged like the stacks of a
// live process, guesses included. Managed frames have the FunctionIDs that `managed` gives, and no names. A thread that
// could not be captured, or that came after the limits were used up, is skipped, with the reason. Not frozen-safe.
//
// If the target has a runtime whose jitted code is unknown, a walk that reaches such code ends there with a gap
// (no_unwind), unless the program has registered a function table for it (FunctionTables). Frames of ReadyToRun images
// that `managed` does not know are stubs of their image.
Snapshot walk_outside(Target& target, const OutsideKnowledge& knowledge, const OutsideLimits& limits = {});

// Gives a snapshot that was not made by walk_outside() the times of its threads, and the moment at which the target
// read these: a processor time is only worth something together with its moment.
void add_thread_times(Snapshot& snapshot, const Target& target);

}  // namespace mixwalk
