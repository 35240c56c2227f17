#pragma once

#include <cstdint>

#include "unmanaged/step/module_view.h"
#include "unmanaged/step/native_run.h"
#include "walker/merge.h"
#include "walker/model/stack.h"

namespace mixwalk {

// Puts frames, leaf first, into a Stack, and keeps its native runs: a run is what lies between two
// managed frames, whichever engine found them.
class StackBuilder {
 public:
  StackBuilder(Stack& stack, const MergeView& view) noexcept : stack_(stack), view_(view) {}

  // A frame of unknown kind: the module map and the CLR decide what it is.
  void add(const RunFrame& frame);
  // A managed frame that the CLR's walker reported.
  void add_managed(const RunFrame& frame, std::uint64_t function);

  // The current run (an empty one, if no frame was added to it) stops here, for this reason.
  void open(OpenReason why);
  // The same, and nothing below is known: what is missing goes on to the thread's root.
  void open_to_root(OpenReason why);
  // The current run arrived at the thread's root.
  void root();

 private:
  Run& current_run();
  void close_run(RunEnd end, OpenReason why);
  bool has_managed_frame() const noexcept { return managed_frames_ != 0; }

  Stack& stack_;
  const MergeView& view_;
  std::int32_t run_ = Frame::kNone;  // index of the run that is being built
  std::size_t managed_frames_ = 0;
};

}  // namespace mixwalk
