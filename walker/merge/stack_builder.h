#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "unmanaged/step/module_view.h"
#include "unmanaged/step/native_run.h"
#include "walker/merge/managed_code.h"
#include "walker/model/stack.h"

namespace mixwalk {

// Puts frames, leaf first, into a Stack, whichever engine found them.
class StackBuilder {
 public:
  StackBuilder(Stack& stack, const ModuleView& modules, ManagedCode& managed) noexcept
      : stack_(stack), modules_(modules), managed_(managed) {}

  // Adds a frame of unknown kind. The module map and the CLR decide which kind it is.
  void add(const RunFrame& frame);
  // Adds a managed frame that the CLR's walker reported.
  void add_managed(const RunFrame& frame, std::uint64_t function);

  // To be called when the CLR has confirmed the frame that was added last, or the one that comes next, or when the walk
  // has reached the thread's root. The steps that led there then no longer count as a guess.
  void confirm() noexcept { guess_.reset(); }

  // Adds a gap, for this reason. Frames that depend on an unconfirmed guess (RunFrame::proven) are removed again,
  // because a wrong caller seldom leads to real frames. A last frame that was interrupted at address 0 is removed as
  // well. Returns whether frames of a guess were removed.
  bool open(OpenReason why);
  // Whether a frame was found by a guess that is not confirmed.
  bool guesses() const noexcept { return guess_.has_value(); }

 private:
  bool undo_guess();
  void take_back_zero();

  Stack& stack_;
  const ModuleView& modules_;
  ManagedCode& managed_;
  std::optional<std::size_t> guess_;  // the index of the first frame that was found by a guess
};

}  // namespace mixwalk
