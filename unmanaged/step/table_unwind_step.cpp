#include "unmanaged/step/table_unwind_step.h"

#include "unmanaged/step/context_restore.h"
#include "unmanaged/step/epilogue.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/step/unwind_info.h"

namespace mixwalk {
namespace {

StepResult accept(Cursor& frame, const Cursor& caller, Trust trust) noexcept {
  if (caller.registers.rsp() <= frame.registers.rsp()) return {StepFault::stack_not_growing};
  frame = caller;
  return {StepFault::none, trust};
}

// Situation: a call through a null pointer, or one into an image's data. Nothing of a callee was
// executed, so Rsp is as the call left it. Outside the images only the null pointer is known.
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
    StepResult stepped{StepFault::no_unwind};
    if (leaf == LeafRule::allowed) stepped = leaf_.step(frame, leaf_code(*module, search, frame.registers.rip));
    stepped.no_unwind_data = true;
    return stepped;
  }

  const FunctionEntry& entry = search.entry;
  const UnwindMemory memory{code_, stack_, module->base};
  const UnwindSummary summary = summarise_unwind(memory, entry);
  if (summary.fault != StepFault::none) return {summary.fault};

  Cursor caller{frame.registers, AddressKind::return_address};
  // A return address that is the function's end lies in the next one: stand on the call instead.
  const std::uint64_t ip = frame.registers.rip - module->base < entry.end ? frame.registers.rip
                                                                          : lookup;
  const auto offset = static_cast<std::uint32_t>(ip - module->base - entry.begin);
  // No epilogue has a call in it, so a return address stands in none. (Folklore: behind a call, a
  // jump to another part of the same function looks like a tail call. The differential test has
  // some 200 such places in coreclr, clrjit and e_sqlite3.) The prologue's length does not matter:
  // Microsoft's compiler lets an early exit lie in the middle of a prologue. (Folklore: the return
  // in sqlite3_initialize when it has nothing to do. Wine 8 takes it for prologue; Windows does not.)
  if (frame.kind == AddressKind::instruction_pointer) {
    if (const auto restored = restored_registers(memory, entry, summary.frame_register, frame.registers)) {
      if (!goes_on(frame.registers, *restored)) return {StepFault::stack_not_growing};
      std::uint64_t word = 0;
      if (!stack_.read(restored->rsp(), &word, sizeof word)) return {StepFault::unreadable_stack};
      frame = {*restored, AddressKind::instruction_pointer};
      return {StepFault::none, Trust::context};
    }
    switch (unwind_epilogue(memory, module, entry, summary.frame_register, caller.registers)) {
      case EpilogueResult::unwound: return accept(frame, caller, Trust::unwind_info);
      case EpilogueResult::unreadable_stack: return {StepFault::unreadable_stack};
      case EpilogueResult::not_in_epilogue: break;
    }
  }
  const UnwoundPrologue done = unwind_prologue(memory, entry, offset, caller.registers);
  if (done.fault != StepFault::none) return {done.fault};
  if (done.machine_frame) {
    caller.kind = AddressKind::instruction_pointer;
    return accept(frame, caller, Trust::unwind_info);
  }
  std::uint64_t& rsp = caller.registers[Register::rsp];
  if (!stack_.read(rsp, &caller.registers.rip, sizeof caller.registers.rip)) {
    return {StepFault::unreadable_stack};
  }
  rsp += 8;
  return accept(frame, caller, Trust::unwind_info);
}

}  // namespace mixwalk
