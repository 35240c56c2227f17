#include "walker/clr/clr_jitted_step.h"

#include "unmanaged/step/entry_step.h"
#include "walker/clr/jitted_code.h"

namespace mixwalk {

StepResult ClrJittedStep::step(Cursor& frame, LeafRule, const StackCopy& stack) noexcept {
  const std::uint64_t ip = frame.code().lookup();
  const auto code = clr_.code_at(ip);
  if (!code) return {StepFault::no_unwind};
  if (!code->jitted) return step_in_image(code->image_base, frame, stack);
  const auto function = find_jitted_function(memory_, *code, ip);
  if (!function) return {StepFault::unreadable_unwind};
  StepResult stepped = step_by_entry({memory_, stack, function->image_base}, nullptr, function->entry, frame);
  if (stepped.fault == StepFault::none) stepped.trust = Trust::dynamic;
  return stepped;
}

StepResult ClrJittedStep::step_in_image(std::uint64_t image_base, Cursor& frame, const StackCopy& stack) {
  const std::uint64_t ip = frame.code().lookup();
  const ModuleSpan* const image = image_base != 0 ? hidden_.image_at(ip, image_base) : hidden_.image_at(ip);
  if (image == nullptr) return {StepFault::unreadable_unwind};
  const EntrySearch found = find_entry(memory_, *image, static_cast<std::uint32_t>(ip - image->base));
  if (!found.found) return {StepFault::unreadable_unwind};
  return step_by_entry({memory_, stack, image->base}, image, found.entry, frame);
}

}  // namespace mixwalk
