#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "unmanaged/step/module_view.h"
#include "unmanaged/step/native_run.h"
#include "unmanaged/step/unwind_step.h"
#include "walker/merge/merge.h"

namespace mixwalk::test {

// A frame of a scripted stack: where it really is, and what the unwinder says about the frame.
struct ScriptedFrame {
  std::uint64_t rip = 0;
  std::uint64_t rsp = 0;
  Trust trust = Trust::unwind_info;   // how the step onto this frame found it
  StepFault fault = StepFault::none;  // the result of a step from this frame
  bool leaf = false;                  // the frame has no unwind data, so a step needs LeafRule::allowed
  AddressKind kind = AddressKind::return_address;
  bool proven = true;  // the step onto it was not a guess
  bool steps_if_guessed = true;  // if false, a step from the frame gives no_call as long as the frame is a guess
  bool caller_calls_other_code = false;
};

// Steps along a list of frames, leaf first. For a place that is not a frame of the list the result is no_unwind, so a
// merge that invents a starting point gets nowhere.
class ScriptedUnwindStep final : public UnwindStep {
 public:
  explicit ScriptedUnwindStep(std::vector<ScriptedFrame> frames) : frames_(std::move(frames)) {}

  StepResult step(Cursor& frame, LeafRule leaf) noexcept override {
    ++steps_;
    for (std::size_t i = 0; i + 1 < frames_.size(); ++i) {
      const ScriptedFrame& here = frames_[i];
      if (here.rip != frame.registers.rip || here.rsp != frame.registers.rsp()) continue;
      if (here.fault != StepFault::none) return {.fault = here.fault, .caller_rsp = frames_[i + 1].rsp};
      if (frame.guessed && !here.steps_if_guessed) return {StepFault::no_call};
      if (here.leaf && leaf == LeafRule::forbidden) return {StepFault::no_unwind};
      const ScriptedFrame& caller = frames_[i + 1];
      frame.registers.rip = caller.rip;
      frame.registers[Register::rsp] = caller.rsp;
      frame.kind = caller.kind;
      frame.guessed = !caller.proven;
      return {StepFault::none, caller.trust, caller.proven, here.caller_calls_other_code};
    }
    return {StepFault::no_unwind};
  }

  std::size_t steps() const noexcept { return steps_; }

 private:
  std::vector<ScriptedFrame> frames_;
  std::size_t steps_ = 0;
};

// The CLR's code, as a table of address ranges.
class ManagedCodeTable final : public ManagedCode {
 public:
  struct Range {
    std::uint64_t begin = 0, end = 0;
    Function function;
  };
  explicit ManagedCodeTable(std::vector<Range> ranges) : ranges_(std::move(ranges)) {}

  Function at(std::uint64_t ip) noexcept override {
    asked_.push_back(ip);
    for (const Range& range : ranges_) {
      if (ip >= range.begin && ip < range.end) return range.function;
    }
    return {};
  }

  // Every address that was asked about, in order.
  const std::vector<std::uint64_t>& asked() const noexcept { return asked_; }

 private:
  std::vector<Range> ranges_;
  std::vector<std::uint64_t> asked_;
};

}  // namespace mixwalk::test
