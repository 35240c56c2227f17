#include "walker/outside/clr_jitted_step.h"

#include "unmanaged/step/entry_step.h"
#include "walker/outside/jitted_code.h"

namespace mixwalk {

StepResult ClrJittedStep::step(Cursor& frame, LeafRule, const StackCopy& stack) noexcept {
  const std::uint64_t ip = frame.code().lookup();
  const auto code = clr_.code_at(ip);
  if (!code) return {StepFault::no_unwind};
  const auto function = find_jitted_function(memory_, *code, ip);
  if (!function) return {StepFault::unreadable_unwind};
  StepResult stepped = step_by_entry({memory_, stack, function->image_base}, nullptr, function->entry, frame);
  if (stepped.fault == StepFault::none) stepped.trust = Trust::dynamic;
  return stepped;
}

}  // namespace mixwalk
