#include "walker/merge/merge.h"

#include <optional>

#include "unmanaged/step/native_run.h"
#include "walker/base/steady_time.h"
#include "walker/merge/guessing_step.h"
#include "walker/merge/stack_builder.h"
#include "walker/suspended/watched_time.h"

namespace mixwalk {
namespace {

OpenReason reason(OpenReason why, const RawSample& sample) noexcept {
  return why == OpenReason::unreadable_stack && sample.stack.cut() ? OpenReason::stack_cut : why;
}

// Steps until the time is over, so that no walk goes on for ever, even on a stack that misleads the unwinder.
//
// Folklore. Situation: between the copy and the walk, a program replaces code outside its images (an engine that
// compiles scripts) by code with a frame of another size. Real case: `hunt.exe retabled`; 2 % of the samples missed a
// caller and still counted as whole. Remedy: a caller whose call leads to other code is rejected. This does not apply
// to the CLR's own code: that code stays loaded as long as a sample needs it (UnloadGate), and may have been reached by
// a jump.
class CheckedStep final : public UnwindStep {
 public:
  explicit CheckedStep(const MergeView& view) noexcept
      : step_(view.step),
        managed_(view.managed),
        longest_ns_(static_cast<std::uint64_t>(std::chrono::nanoseconds(view.longest).count())),
        end_ns_(view.end_ns) {
    watched_.look(steady_time_ns());
  }

  StepResult step(Cursor& frame, LeafRule leaf) noexcept override {
    if (over_ || (++steps_ % kStepsPerLook == 0 && is_over())) {
      over_ = true;  // for those who ask again
      return {StepFault::too_slow};
    }
    const Cursor before = frame;
    const StepResult stepped = step_.step(frame, leaf);
    if (!stepped.calls_other_code || managed_.at(before.code().lookup()).id != 0) return stepped;
    frame = before;
    return {StepFault::no_call};
  }

 private:
  bool is_over() noexcept {
    const std::uint64_t now = steady_time_ns();
    return watched_.look(now) >= longest_ns_ || now >= end_ns_;
  }

  static constexpr unsigned kStepsPerLook = 256;
  // Folklore: on a machine with ten times more work than processors, a walk of 5,000 frames that takes some 20 ms stood
  // for a second, and ended at its frame 2,304. Remedy: so many steps count for no more than this, however long they
  // took.
  static constexpr std::uint64_t kMostOfLookNs = 25'000'000;

  UnwindStep& step_;
  ManagedCode& managed_;
  std::uint64_t longest_ns_, end_ns_;
  WatchedTime watched_{kMostOfLookNs};
  unsigned steps_ = 0;
  bool over_ = false;
};

// The unwinder of a merge, with checks, and with guesses if they are wanted.
class MergeStep final : public UnwindStep {
 public:
  explicit MergeStep(const MergeView& view) noexcept : checked_(view) {
    if (view.guess != nullptr) guessing_.emplace(checked_, *view.guess, view.managed);
  }

  // To be called before each walk: sets the place where it has to arrive.
  void set_goal(const WalkGoal& goal) noexcept {
    if (guessing_) guessing_->set_goal(goal);
  }
  // Steps without a guess, because the goal of the last walk is after the frame.
  StepResult step_surely(Cursor& frame, LeafRule leaf) noexcept { return checked_.step(frame, leaf); }
  StepResult step(Cursor& frame, LeafRule leaf) noexcept override {
    return guessing_ ? guessing_->step(frame, leaf) : checked_.step(frame, leaf);
  }

 private:
  CheckedStep checked_;
  std::optional<GuessingStep> guessing_;
};

// The means of both engines.
struct Walk {
  MergeStep& step;
  ManagedCode& managed;
  std::span<RunFrame> scratch;
};

// The copy engine, which walks from the top of the copy to its root.
class CopyWalk {
 public:
  CopyWalk(const RawSample& sample, const Walk& view, std::span<const RuntimeCall> calls, StackBuilder& builder)
      : sample_(sample), view_(view), calls_(calls), builder_(builder) {}

  void walk() {
    set_goal();
    Cursor frame{.registers = sample_.context};
    Trust trust = Trust::context;
    bool proven = true;
    for (std::size_t count = 0; count < kMaxFrames; ++count) {
      if (is_root(frame)) {
        builder_.confirm();
        return;
      }
      pass_calls_below(frame);
      const bool made_call = has_made_next_call(frame);
      if (made_call) {
        confirm(frame);
        proven = true;
      }
      builder_.add({frame.registers.rip, frame.registers.rsp(), frame.kind, trust, proven});
      const std::size_t behind = next_ + (made_call || is_at_next_call(frame) ? 1 : 0);
      const StepResult stepped = view_.step.step(frame, leaf_rule(frame.kind));
      trust = stepped.trust;
      proven = stepped.proven;
      if (!proven && !builder_.guesses()) before_guess_ = behind;
      if (stepped.fault == StepFault::none) continue;
      next_ = builder_.open(reason(open_reason(stepped.fault), sample_)) ? before_guess_ : behind;
      if (next_ == calls_.size() || stepped.fault == StepFault::too_slow) return;
      frame = calls_[next_].caller;
      set_goal();
      trust = Trust::runtime;
      proven = true;
    }
    builder_.open(OpenReason::frame_limit);
  }

 private:
  void set_goal() {
    WalkGoal goal;
    if (next_ < calls_.size()) {
      const RuntimeCall& call = calls_[next_];
      goal = {{call.caller.registers.rip, call.caller.registers.rsp()}, call.function};
    }
    view_.step.set_goal(goal);
  }

  void pass_calls_below(const Cursor& frame) {
    const std::size_t before = next_;
    const auto is_below = [&](const RuntimeCall& call) {
      return call.caller.registers.rsp() < frame.registers.rsp();
    };
    while (next_ < calls_.size() && is_below(calls_[next_])) ++next_;
    if (next_ != before) set_goal();
  }

  // The method may have called itself, so the Rsp of the call must be in this frame. That Rsp is the one from before a
  // stackalloc, so it may be above the frame's own. If the frame's end cannot be found, the function decides.
  bool has_made_next_call(const Cursor& frame) {
    if (next_ == calls_.size() || view_.managed.at(frame.code().lookup()).id != calls_[next_].function) return false;
    if (is_at_next_call(frame)) return true;
    Cursor caller = frame;
    const StepResult stepped = view_.step.step_surely(caller, leaf_rule(frame.kind));
    if (stepped.fault == StepFault::too_slow) return false;
    return stepped.fault != StepFault::none || caller.registers.rsp() > calls_[next_].caller.registers.rsp();
  }

  bool is_at_next_call(const Cursor& frame) const {
    return next_ < calls_.size() && calls_[next_].caller.registers.rsp() == frame.registers.rsp();
  }

  // After a guess the walk has lost most registers of the frame, but the runtime knows those that it needs.
  void confirm(Cursor& frame) {
    builder_.confirm();
    if (!frame.guessed) return;
    const Registers found = frame.registers;
    frame = calls_[next_].caller;
    frame.registers.rip = found.rip;
    frame.registers[Register::rsp] = found.rsp();
  }

  const RawSample& sample_;
  const Walk& view_;
  std::span<const RuntimeCall> calls_;
  StackBuilder& builder_;
  std::size_t next_ = 0;          // index of the call whose caller comes next
  std::size_t before_guess_ = 0;  // next_ behind the last frame before the guess that is not confirmed
};

// The snapshot engine's second half, which fills the holes between the managed frames.
class HoleFiller {
 public:
  HoleFiller(const RawSample& sample, const Walk& view, StackBuilder& builder)
      : sample_(sample),
        view_(view),
        builder_(builder),
        start_(Start{{.registers = sample.context}, Trust::context}) {}

  void fill() {
    for (const ManagedEntry& entry : sample_.entries()) {
      if (is_on_another_stack(entry) && (managed_seen_ || entry.function != 0)) {
        leads_off_ = true;
        break;
      }
      if (entry.function != 0) {
        fill_to(entry);
        managed_seen_ = true;
      } else if (managed_seen_) {
        start_hole(entry);
      }
      // Otherwise a hole above the first managed frame is the leaf run. It starts at the thread's own registers, not
      // where the CLR's walk began.
    }
    fill_to_root();
  }

 private:
  // The frame at which a run starts, and how that frame was found.
  struct Start {
    Cursor frame;
    Trust trust;
  };

  // Folklore. Situation: a fiber, or a coroutine with its own stack. The CLR continues its walk where the thread last
  // left managed code. That place may be on the stack that the thread has switched away from. No chain of callers leads
  // there, and that stack was not copied. Remedy: the copied stack is walked to its root, and the frames on the other
  // stack are missing. Test: the hunt's fibers and coroutines.
  bool is_on_another_stack(const ManagedEntry& entry) const noexcept {
    const std::uint64_t rsp = entry.registers.rsp();
    const StackCopy& stack = sample_.stack;
    return rsp < stack.begin() || (rsp > stack.end() && !stack.cut());
  }

  // The CLR reports where a hole begins, but places that beginning below the stubs that it does not report
  // (IL_STUB_ReversePInvoke). So the frames between those stubs and the managed frame above are walked first.
  void start_hole(const ManagedEntry& entry) {
    const Cursor hole{entry.registers, AddressKind::return_address};
    Trust arrival = Trust::runtime;
    if (start_) {
      const RunBound bound{entry.registers.rip, entry.registers.rsp()};
      const RunResult run = walk_run({bound});
      add_frames(run);
      if (run.end == RunEnd::closed_rsp) {
        builder_.open(OpenReason::wrong_function);
      } else if (run.end == RunEnd::open) {
        builder_.open(reason(run.why, sample_));
      } else {
        builder_.confirm();
        arrival = run.arrival;
      }
    } else if (!is_known_caller(entry)) {
      // There may be stubs between the hole and the managed frame that could not be unwound.
      builder_.open(reason(open_reason(fault_), sample_));
    }
    // The runtime says that the hole begins there, but it may be a guess that a frame of this thread leads to it.
    start_ = Start{hole, is_guess(arrival) ? arrival : Trust::runtime};
  }

  // Adds the run from start_ to the managed frame, then that frame, and sets start_ to its caller.
  void fill_to(const ManagedEntry& entry) {
    Cursor managed{entry.registers, AddressKind::return_address};
    managed.registers.rip = entry.ip;
    Trust trust = Trust::runtime;
    if (start_) {
      const RunBound bound{entry.ip, entry.registers.rsp()};
      RunResult run = walk_run({bound, entry.function});
      // Folklore. Situation: a managed frame makes an inlined P/Invoke after a stackalloc. The CLR reports the frame
      // from its InlinedCallFrame, which the prologue filled with the Rsp from before the stackalloc. Real case: any
      // generated marshalling of a UTF-8 string. Remedy: the unwound frame whose part of the stack contains that Rsp
      // counts as the managed frame, if it is of the same function. Test: the ladder's StackallocOut.
      const bool spans_bound = run.why == OpenReason::passed_bound && run.frames != 0;
      if (spans_bound && same_function(run.next, entry)) {
        run.end = RunEnd::closed_rsp;
        --run.frames;
      } else if (run.end == RunEnd::closed_rsp && !same_function(run.next, entry)) {
        run.end = RunEnd::open;
        run.why = OpenReason::wrong_function;
      }
      add_frames(run);
      if (run.end == RunEnd::open) {
        builder_.open(reason(run.why, sample_));
      } else {
        builder_.confirm();
        // For a frame that makes an inlined P/Invoke, the CLR gives an ip that is not the frame's return address. The
        // frame continues at the unwound address. The copy engine reports that address, too.
        const Registers known = managed.registers;
        managed = run.next;
        managed.guessed = false;
        if (managed.kind == AddressKind::instruction_pointer) trust = start_->trust;
        if (is_guess(run.arrival)) trust = run.arrival;
        // The runtime knows all registers of the frame, but after a guess the walk has lost them.
        if (run.guessed) {
          managed.registers = known;
          managed.registers.rip = run.next.registers.rip;
          managed.registers[Register::rsp] = run.next.registers.rsp();
        }
      }
    } else if (!is_known_caller(entry)) {
      builder_.open(reason(open_reason(fault_), sample_));
    }
    builder_.add_managed({managed.registers.rip, managed.registers.rsp(), managed.kind, trust},
                         entry.function);
    const StepResult stepped = view_.step.step_surely(managed, leaf_rule(managed.kind));
    fault_ = stepped.fault;
    caller_rsp_ = stepped.caller_rsp;
    start_.reset();
    if (fault_ == StepFault::none) start_ = Start{managed, stepped.trust};
  }

  void fill_to_root() {
    if (!start_) {
      builder_.open(reason(open_reason(fault_), sample_));
      return;
    }
    const RunResult run = walk_run({});
    add_frames(run);
    if (run.end != RunEnd::root) {
      builder_.open(reason(run.why, sample_));
      return;
    }
    builder_.confirm();
    if (leads_off_) builder_.open(OpenReason::ended_at_root);
  }

  // Whether the entry is the caller of the managed frame whose return address the runtime has exchanged. The runtime
  // has kept the real address, and its walk has used it. A frame between the two would lie between their Rsps.
  bool is_known_caller(const ManagedEntry& entry) const noexcept {
    return fault_ == StepFault::return_replaced && entry.registers.rsp() == caller_rsp_;
  }

  // Walks from start_ to the goal.
  RunResult walk_run(const WalkGoal& goal) {
    view_.step.set_goal(goal);
    return walk_native_run(start_->frame, start_->trust, goal.bound, view_.step, view_.scratch);
  }

  bool same_function(const Cursor& frame, const ManagedEntry& entry) {
    return view_.managed.at(frame.code().lookup()).id == entry.function;
  }

  void add_frames(const RunResult& run) {
    // The first frame is known from the thread's registers, even if the CLR reports nothing.
    if (run.end == RunEnd::open && run.frames == 0 && start_->trust == Trust::context) {
      const Cursor& at = start_->frame;
      builder_.add({at.registers.rip, at.registers.rsp(), at.kind, start_->trust});
    }
    for (std::size_t i = 0; i < run.frames; ++i) builder_.add(view_.scratch[i]);
  }

  const RawSample& sample_;
  const Walk& view_;
  StackBuilder& builder_;
  std::optional<Start> start_;
  bool managed_seen_ = false;
  bool leads_off_ = false;  // the CLR's next frame is on another stack
  StepFault fault_ = StepFault::none;  // why there is no start_
  std::uint64_t caller_rsp_ = 0;       // as StepResult::caller_rsp
};

bool has_managed_entry(const RawSample& sample) {
  for (const ManagedEntry& entry : sample.entries()) {
    if (entry.function != 0) return true;
  }
  return false;
}

}  // namespace

Stack merge(const RawSample& sample, const MergeView& view) {
  MergeStep step(view);
  const Walk walk{step, view.managed, view.scratch};
  Stack stack;
  stack.refusal = sample.refusal;
  StackBuilder builder(stack, view.modules, view.managed);
  if (sample.fault == CaptureFault::off_stack) {
    builder.add({.address = sample.context.rip, .stack_pointer = sample.context.rsp()});
    builder.open(OpenReason::off_stack);
    return stack;
  }
  if (sample.fault != CaptureFault::none) return stack;
  if (sample.managed_walked && !sample.entries_cut && has_managed_entry(sample)) {
    stack.engine = Engine::snapshot;
    HoleFiller(sample, walk, builder).fill();
  } else {
    stack.engine = Engine::copy;
    CopyWalk(sample, walk, view.calls, builder).walk();
  }
  return stack;
}

}  // namespace mixwalk
