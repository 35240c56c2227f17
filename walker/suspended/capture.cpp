#include "walker/suspended/capture.h"

#include <optional>

#include "unmanaged/step/table_unwind_step.h"

namespace mixwalk {
namespace {

// Frames between the top of a stack and its first managed frame. Longer leaf runs exist (deep
// native recursion) but a walk that long is not worth the freeze: the sample then goes without a
// seed, and the copy engine has the stack all the same.
constexpr int kMaxLeafFrames = 512;

// The registers of the topmost managed frame. Walks the copy, so that the frozen stack is read
// once only; the images' .pdata is ours to read, the dynamic function table is not.
std::optional<Registers> find_seed(const RawSample& sample, const CaptureView& view) noexcept {
  TableUnwindStep step(view.modules, view.code, sample.stack);
  Cursor frame{.registers = sample.context};
  for (int i = 0; i < kMaxLeafFrames; ++i) {
    if (frame.registers.rip == 0) return std::nullopt;
    const std::uint64_t ip = frame.code().lookup();
    const ModuleSpan* module = view.modules.find(ip);
    // An image without managed code needs no question; everything else only the CLR can tell.
    if ((module == nullptr || module->has_managed_code) && view.managed->is_managed(ip)) {
      return frame.registers;
    }
    if (step.step(frame, leaf_rule(frame.kind)).fault != StepFault::none) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

void capture(ThreadControl& thread, std::uint64_t clr_thread, const CaptureView& view,
             RawSample& sample) noexcept {
  sample.clear();
  const std::uint64_t started = thread.now_ns();
  {
    ScopedSuspension suspension(thread);
    if (!suspension || !thread.read_registers(sample.context)) {
      sample.fault = CaptureFault::not_suspended;
      return;
    }
    const StackLimits stack = thread.stack_limits();
    if (!stack.contains(sample.context.rsp())) {
      sample.fault = CaptureFault::off_stack;
      return;
    }
    sample.stack.fill(sample.context.rsp(), stack.base);
    if (view.managed != nullptr && clr_thread != 0) {
      const std::optional<Registers> seed = find_seed(sample, view);
      view.managed->walk(clr_thread, seed ? &*seed : nullptr, sample);
    }
  }
  sample.frozen_ns = thread.now_ns() - started;
}

}  // namespace mixwalk
