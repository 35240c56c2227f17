#include "walker/outside/target_step.h"

#include <algorithm>

#include "unmanaged/step/caller_check.h"
#include "unmanaged/step/entry_step.h"
#include "unmanaged/step/interrupted_context.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/step/unwind_info.h"

namespace mixwalk {

StepResult TargetStep::step(Cursor& frame, LeafRule leaf) noexcept {
  const std::uint64_t rsp = frame.registers.rsp();
  if (rsp < stack_.begin() || rsp > stack_.end() || stack_.end() - rsp < sizeof(std::uint64_t)) {
    return {StepFault::unreadable_stack};
  }
  const Dispatchers& dispatchers = code_.dispatchers;
  const bool dispatches = frame.registers.rip == dispatchers.exception && dispatchers.exception != 0;
  if (dispatches && frame.kind == AddressKind::instruction_pointer) {
    if (const auto interrupted = interrupted_context(stack_, rsp)) {
      if (interrupted->rsp() <= rsp) return {StepFault::stack_not_growing};
      frame = {*interrupted, AddressKind::instruction_pointer};
      return {.trust = Trust::context};  // the registers that the system saved
    }
  }
  // Situation: a call through a null pointer, or into data. The callee has executed no instruction.
  if (leaf == LeafRule::allowed && code_.not_executed != 0 && frame.registers.rip == code_.not_executed) {
    StepResult stepped = leaf_.step(frame, {frame.registers.rip, frame.registers.rip});
    frame.guessed = frame.guessed && stepped.fault != StepFault::none;
    stepped.proven = stepped.fault == StepFault::none;
    return stepped;
  }
  if (leaf == LeafRule::allowed && !leaf_.is_code(frame.registers.rip)) {
    return leaf_.step(frame, {frame.registers.rip, frame.registers.rip});
  }
  const bool guessed = frame.guessed;
  const ModuleSpan* const module = modules_.find(frame.code().lookup());
  Cursor caller = frame;
  StepResult stepped = module != nullptr ? table_.step(caller, leaf) : step_outside(caller, leaf);
  if (stepped.fault != StepFault::none) return stepped;
  if (stepped.trust == Trust::leaf || stepped.trust == Trust::context) {
    frame = caller;
    return stepped;
  }
  caller.guessed = false;  // found by unwind data
  // The same as in RtlUnwindStep.
  const bool may_dispatch = module != nullptr && caller.kind == AddressKind::return_address &&
                            (module->contains(dispatchers.exception) || module->contains(dispatchers.apc) ||
                             module->contains(dispatchers.callback));
  if (may_dispatch) {
    const std::uint64_t function = function_begin(frame, *module);
    if (dispatchers.interrupts(function)) caller.kind = AddressKind::instruction_pointer;
    if (function != 0 && function == dispatchers.callback) {
      if (const auto entered = callback_caller(stack_, memory_, caller.registers)) {
        caller = {*entered, AddressKind::instruction_pointer};
      }
    }
  }
  if (caller.registers.rsp() > stack_.end()) return {StepFault::unreadable_stack};
  const bool returns = caller.kind == AddressKind::return_address && caller.registers.rip != 0;
  const ModuleSpan* const to = returns ? modules_.find(caller.code().lookup()) : nullptr;
  StepFault fault = check_caller({caller, to, module, guessed}, stack_, leaf_, memory_);
  // Situation: the thread will return into an image that was unloaded, so no call can be seen there.
  const bool into_unloaded = fault == StepFault::no_call && returns && to == nullptr && code_.target != nullptr &&
                             code_.target->unloaded_at(caller.code().lookup());
  if (into_unloaded) fault = StepFault::none;
  if (fault != StepFault::none) return {.fault = fault, .caller_rsp = caller.registers.rsp()};
  // Situation: a guess led to the middle of a frame, and the word that is popped there is not the return address.
  if (guessed && returns && module != nullptr && !into_unloaded && !calls_function_of(caller, frame, *module)) {
    return {StepFault::no_call};
  }
  frame = caller;
  return stepped;
}

StepResult TargetStep::step_outside(Cursor& frame, LeafRule leaf) noexcept {
  StepResult stepped{StepFault::no_unwind};
  if (code_.jitted != nullptr) stepped = code_.jitted->step(frame, leaf, stack_);
  // Situation: hotpatch images of Windows Server 2025, and DLLs that were taken out of the loader's list. Inside, the
  // system finds their unwind data.
  const std::uint64_t lookup = frame.code().lookup();
  if (stepped.fault == StepFault::no_unwind && code_.unlisted != nullptr && outside_.is_image(lookup)) {
    if (const ModuleSpan* const image = code_.unlisted->image_at(lookup)) {
      const ModuleView only({image, 1});
      return TableUnwindStep(only, memory_, stack_, outside_).step(frame, leaf);
    }
  }
  if (stepped.fault != StepFault::no_unwind) return stepped;
  FunctionTables::Found found;
  if (code_.tables != nullptr) found = code_.tables->find(lookup);
  if (found.entry) stepped = step_by_table(found, frame);
  // Unwind data that cannot be read or contradicts itself counts as none, because the table may be stale.
  const bool unsound = stepped.fault == StepFault::unreadable_unwind || stepped.fault == StepFault::bad_unwind;
  if (unsound) stepped = {StepFault::no_unwind};
  if (stepped.fault != StepFault::no_unwind || !code_.foreign) return stepped;
  const std::uint64_t ip = frame.registers.rip;
  if (leaf == LeafRule::allowed) stepped = leaf_.step(frame, {ip - std::min(ip, kMaxOutsideLeafBytes), ip});
  stepped.no_unwind_data = true;
  if (stepped.fault != StepFault::none && found.by_callback) stepped.fault = StepFault::unwind_callback;
  return stepped;
}

StepResult TargetStep::step_by_table(const FunctionTables::Found& found, Cursor& frame) noexcept {
  StepResult stepped = step_by_entry({memory_, stack_, found.base}, nullptr, *found.entry, frame);
  if (stepped.fault != StepFault::none) return stepped;
  used_tables_ = true;
  stepped.trust = Trust::dynamic;
  // The same as in RtlUnwindStep.
  const LeafCode function{found.base + found.entry->begin, found.base + found.entry->end};
  stepped.calls_other_code = frame.kind == AddressKind::return_address && frame.registers.rip != 0 &&
                             leaf_.calls_other_code(frame.registers.rip, function);
  return stepped;
}

std::uint64_t TargetStep::function_begin(const Cursor& frame, const ModuleSpan& module) noexcept {
  const auto rva = static_cast<std::uint32_t>(frame.code().lookup() - module.base);
  const EntrySearch found = find_entry(memory_, module, rva);
  if (!found.found) return 0;
  const UnwindMemory memory{memory_, stack_, module.base};
  const UnwindCheck check = check_unwind(memory, found.entry, rva - found.entry.begin);
  return check.fault == StepFault::none ? module.base + check.function_begin : 0;
}

// Whether the caller's call can have led to the frame's function.
bool TargetStep::calls_function_of(const Cursor& caller, const Cursor& frame, const ModuleSpan& module) noexcept {
  const std::uint64_t begin = function_begin(frame, module);
  return begin != 0 && leaf_.may_lead_to(caller.registers.rip, {begin, begin});
}

}  // namespace mixwalk
