#include "unmanaged/step/table_unwind_step.h"

#include "unmanaged/step/caller_check.h"
#include "unmanaged/step/entry_step.h"
#include "unmanaged/step/pdata.h"

namespace mixwalk {
namespace {

// Situation: a call through a null pointer, or a call into an image's data. No instruction of a callee was executed, so
// Rsp is as the call left it. Outside the images only the null pointer is recognised.
bool is_no_code(const Cursor& frame, const ModuleSpan* module) noexcept {
  return module != nullptr ? !module->is_code(frame.registers.rip) : frame.registers.rip == 0;
}

}  // namespace

StepResult TableUnwindStep::step(Cursor& frame, LeafRule leaf) noexcept {
  const std::uint64_t lookup = frame.code().lookup();
  const ModuleSpan* module = modules_.find(lookup);
  if (leaf == LeafRule::allowed && is_no_code(frame, module)) {
    return leaf_.step(frame, {frame.registers.rip, frame.registers.rip});
  }
  if (module == nullptr) return {StepFault::no_unwind};
  if (module->closed) return {StepFault::unreadable_unwind};
  const auto rva = static_cast<std::uint32_t>(lookup - module->base);
  const EntrySearch search = find_entry(code_, *module, rva);
  if (search.fault != StepFault::none) return {search.fault};
  if (!search.found) {
    if (returns_to_start(frame, *module, code_)) return {StepFault::no_call};
    StepResult stepped{StepFault::no_unwind};
    if (leaf == LeafRule::allowed) stepped = leaf_.step(frame, leaf_code(*module, search, frame.registers.rip));
    stepped.no_unwind_data = true;
    return stepped;
  }

  return step_by_entry({code_, stack_, module->base}, module, search.entry, frame);
}

}  // namespace mixwalk
