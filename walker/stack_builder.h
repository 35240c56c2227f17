#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "unmanaged/step/module_view.h"
#include "unmanaged/step/native_run.h"
#include "walker/managed_code.h"
#include "walker/model/stack.h"

namespace mixwalk {

// Puts frames, leaf first, into a Stack, and records its native runs: a run is the frames between two managed frames,
// whichever engine found them.
class StackBuilder {
 public:
  StackBuilder(Stack& stack, const ModuleView& modules, ManagedCode& managed) noexcept
      : stack_(stack), modules_(modules), managed_(managed) {}

  // A frame of unknown kind: the module map and the CLR decide what it is.
  void add(const RunFrame& frame);
  // A managed frame that the CLR's walker reported.
  void add_managed(const RunFrame& frame, std::uint64_t function);

  // The CLR has confirmed the frame that was added last, or that comes next: the steps that led to that
  // frame no longer count as a guess.
  void confirm() noexcept { guess_.reset(); }

  // The current run (an empty one, if no frame was added to it) stops here, for this reason. Frames that depend on an
  // unconfirmed guess (RunFrame::proven) are removed again: an invented caller seldom leads anywhere. A last frame that
  // was interrupted at address 0 is removed as well.
  void open(OpenReason why);
  // The same, and the rest of the stack is unknown: the gap extends to the thread's root.
  void open_to_root(OpenReason why);
  // The current run arrived at the thread's root.
  void root();

 private:
  // Where the first frame stands that was found by a guess.
  struct Guess {
    std::size_t frames = 0, runs = 0, managed_frames = 0;
  };

  bool undo_guess();
  void take_back_zero();
  Run& current_run();
  void close_run(RunEnd end, OpenReason why);
  bool has_managed_frame() const noexcept { return managed_frames_ != 0; }

  Stack& stack_;
  const ModuleView& modules_;
  ManagedCode& managed_;
  std::int32_t run_ = Frame::kNone;  // index of the run that is being built
  std::size_t managed_frames_ = 0;
  std::optional<Guess> guess_;
};

}  // namespace mixwalk
