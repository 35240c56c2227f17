#include "unmanaged/step/entry_step.h"

#include "unmanaged/step/context_restore.h"
#include "unmanaged/step/epilogue.h"
#include "unmanaged/step/redirected.h"
#include "unmanaged/step/saved_rsp.h"

namespace mixwalk {
namespace {

StepResult accept(Cursor& frame, const Cursor& caller, Trust trust) noexcept {
  if (caller.registers.rsp() <= frame.registers.rsp()) return {StepFault::stack_not_growing};
  frame = caller;
  return {StepFault::none, trust};
}

}  // namespace

StepResult step_by_entry(const UnwindMemory& memory, const ModuleSpan* module, const FunctionEntry& entry,
                         Cursor& frame) noexcept {
  const UnwindSummary summary = summarise_unwind(memory, entry);
  if (summary.fault != StepFault::none) return {summary.fault};

  Cursor caller{frame.registers, AddressKind::return_address};
  // A return address that is the function's end lies in the next function, so the call's address is used instead.
  const std::uint64_t ip = frame.registers.rip - memory.image_base < entry.end
                               ? frame.registers.rip
                               : frame.code().lookup();
  const auto offset = static_cast<std::uint32_t>(ip - memory.image_base - entry.begin);
  // An epilogue contains no call, so a return address never lies in one. (Folklore: behind a call, a jump to another
  // part of the same function looks like a tail call. The differential test has some 200 such places in coreclr, clrjit
  // and e_sqlite3.) The prologue's length does not matter: Microsoft's compiler sometimes puts an early exit in the
  // middle of a prologue. (Folklore: the return in sqlite3_initialize when it has nothing to do. Wine 8 takes it for a
  // part of the prologue; Windows does not.)
  if (frame.kind == AddressKind::instruction_pointer) {
    const auto restored =
        module != nullptr ? restored_registers(memory, entry, summary.frame_register, frame.registers)
                          : std::nullopt;
    if (restored) {
      if (!step_makes_progress(frame.registers, *restored)) return {StepFault::stack_not_growing};
      std::uint64_t word = 0;
      if (!memory.stack.read(restored->rsp(), &word, sizeof word)) return {StepFault::unreadable_stack};
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
  if (!memory.stack.read(rsp, &caller.registers.rip, sizeof caller.registers.rip)) {
    return {StepFault::unreadable_stack};
  }
  rsp += 8;
  skip_saved_rsp(memory.stack, caller.registers);
  if (module != nullptr && is_redirected(memory, entry, ip)) caller.kind = AddressKind::instruction_pointer;
  return accept(frame, caller, Trust::unwind_info);
}

}  // namespace mixwalk
