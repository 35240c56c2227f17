#include "walker/suspended/capture.h"

#include <optional>

#include "unmanaged/step/system_call.h"
#include "unmanaged/step/table_unwind_step.h"

namespace mixwalk {
namespace {

// The limit for frames between the top of a stack and its first managed frame. Longer leaf runs exist (deep native
// recursion), but a walk that long is not worth the freeze. The sample then gets no seed, and the copy engine walks the
// stack nevertheless.
constexpr int kMaxLeafFrames = 512;

// Walks from the top of the copy to the topmost managed frame. The frozen stack is read only once. The images' .pdata
// may be read here; the dynamic function table may not.
class LeafWalk final : OutsideMemory {
 public:
  LeafWalk(const CaptureView& view, RawSample& sample) noexcept : view_(view), sample_(sample) {}

  // The registers of the topmost managed frame. Returns nothing if no managed frame was found, or if the CLR may not be
  // asked about one (clr_allowed()). A frame that a guess led to does not count, because a wrong seed makes the CLR
  // read wild memory.
  std::optional<Registers> find_seed() noexcept {
    TableUnwindStep step(view_.modules, view_.code, sample_.stack, *this);
    Cursor frame{.registers = sample_.context};
    bool proven = true;
    for (int i = 0; i < kMaxLeafFrames; ++i) {
      if (is_root(frame)) return std::nullopt;
      const std::uint64_t ip = frame.code().lookup();
      const ModuleSpan* module = view_.modules.find(ip);
      if (module != nullptr) at_risk_ = at_risk_ || is_risk(*module, i == 0);
      if (at_risk_ && !view_.ask_at_risk && !clr_allowed()) return std::nullopt;
      // If an image has no managed code, the CLR need not be asked; for all other addresses only the CLR knows.
      if (module == nullptr || module->has_managed_code) {
        if (!clr_allowed()) return std::nullopt;
        if (ip != 0 && view_.managed->is_managed(ip)) {
          return proven ? std::optional(frame.registers) : std::nullopt;
        }
      }
      const StepResult stepped = step.step(frame, leaf_rule(frame.kind));
      if (stepped.fault != StepFault::none) return std::nullopt;
      proven = proven && stepped.proven;
    }
    return std::nullopt;
  }

  // Outside the images only the CLR knows which memory is code, and only for its own code.
  MemoryKind kind(std::uint64_t address) noexcept override {
    return address != 0 && clr_allowed() && view_.managed->is_managed(address)
               ? MemoryKind::code
               : MemoryKind::unknown;
  }

  // Whether the CLR may be called while this thread is frozen. This is decided at the first call, by the frames that
  // the walk has seen until then.
  bool clr_allowed() noexcept {
    if (!decided_) {
      decided_ = true;
      const bool wanted = view_.policy == ProbePolicy::always ||
                          (view_.policy == ProbePolicy::risk && at_risk_);
      if (wanted && !view_.ask_at_risk) {
        allowed_ = false;
        sample_.at_risk = true;
      } else if (wanted) {
        allowed_ = view_.probe != nullptr && view_.probe->passes();
        sample_.probe = allowed_ ? ProbeResult::passed : ProbeResult::failed;
      }
    }
    return allowed_;
  }

 private:
  bool is_risk(const ModuleSpan& module, bool top) const noexcept {
    switch (module.lock_risk) {
      case LockRisk::none: return false;
      case LockRisk::any: return true;
      case LockRisk::below_system_call:
        return !top || module.closed || !at_system_call(sample_.context.rip, view_.code);
    }
    return true;
  }

  const CaptureView& view_;
  RawSample& sample_;
  bool at_risk_ = false;
  bool decided_ = false;
  bool allowed_ = true;
};

}  // namespace

void capture(ThreadControl& thread, std::uint64_t clr_thread, const CaptureView& view,
             RawSample& sample) noexcept {
  sample.clear();
  const std::uint64_t started = thread.now_ns();
  std::uint64_t frozen_since = 0;
  {
    ScopedSuspension suspension(thread);
    const bool stopped = suspension && thread.read_registers(sample.context);
    frozen_since = thread.now_ns();
    sample.stopping_ns = frozen_since - started;
    if (!stopped) {
      const bool refused = suspension.result() == Suspend::not_now;
      sample.fault = refused ? CaptureFault::not_now : CaptureFault::not_suspended;
      return;
    }
    sample.in_dispatch = thread.in_dispatch();
    const StackLimits stack = thread.stack_limits();
    if (!stack.contains(sample.context.rsp())) {
      sample.fault = CaptureFault::off_stack;
      return;
    }
    sample.stack.fill(view.stack, sample.context.rsp(), stack.base);
    if (thread.overdue()) {
      sample.fault = CaptureFault::overdue;
    } else if (view.last != nullptr && view.last->is_at(sample.context, sample.stack)) {
      sample.unmoved = true;
    } else if (view.managed != nullptr && clr_thread != 0 && thread.suspended_by_others()) {
      sample.refusal = kThreadSuspended;
    } else if (view.managed != nullptr && clr_thread != 0 && !sample.in_dispatch) {
      LeafWalk leaf(view, sample);
      const std::optional<Registers> seed = leaf.find_seed();
      if (leaf.clr_allowed()) view.managed->walk(clr_thread, seed ? &*seed : nullptr, sample);
    }
    sample.overdue = thread.overdue();
  }
  // If a supervisor ended the freeze, this thread may have continued much later, and the frozen thread may have been
  // resumed before it had stopped.
  const std::uint64_t ended = sample.overdue ? thread.last_frozen_ns() : thread.now_ns();
  sample.frozen_ns = ended > frozen_since ? ended - frozen_since : 0;
}

}  // namespace mixwalk
