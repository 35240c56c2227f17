#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "unmanaged/step/module_view.h"
#include "unmanaged/step/native_run.h"
#include "walker/merge/managed_code.h"
#include "walker/model/stack.h"

namespace mixwalk {

// Puts frames, leaf first, into a Stack, and records its native runs. A run is the frames between two managed frames,
// whichever engine found them.
class StackBuilder {
 public:
  StackBuilder(Stack& stack, const ModuleView& modules, ManagedCode& managed) noexcept
      : stack_(stack), modules_(modules), managed_(managed) {}

  // Adds a frame of unknown kind. The module map and the CLR decide which kind it is.
  void add(const RunFrame& frame);
  // Adds a managed frame that the CLR's walker reported.
  void add_managed(const RunFrame& frame, std::uint64_t function);

  // To be called when the CLR has confirmed the frame that was added last, or the one that comes next. The steps that
  // led to that frame then no longer count as a guess.
  void confirm() noexcept { guess_.reset(); }

  // Ends the current run here, for this reason. (If no frame was added to it, the run is empty.) Frames that depend on
  // an unconfirmed guess (RunFrame::proven) are removed again, because a wrong caller seldom leads to real frames. A
  // last frame that was interrupted at address 0 is removed as well.
  void open(OpenReason why);
  // Does the same if the rest of the stack is unknown: the gap extends to the thread's root.
  void open_to_root(OpenReason why);
  // Ends the current run at the thread's root.
  void root();

 private:
  // The position of the first frame that was found by a guess.
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
