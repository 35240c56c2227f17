#include "unmanaged/win/rtl_unwind_step.h"

#include "unmanaged/step/unwind_info.h"
#include "unmanaged/win/context.h"
#include "unmanaged/win/guarded.h"

namespace mixwalk {

struct RtlUnwindStep::Unwind {
  std::uint64_t ip;         // where the frame stands
  std::uint64_t lookup_ip;  // an address inside its instruction
  CONTEXT& context;
  bool found = false;
  bool machine_frame = false;
};

namespace {

// Whether RtlVirtualUnwind, which does not tell, will pop a trap's frame. Asked for every frame and
// almost always no: the first look goes to the one slot that the code can be in, without decoding.
// (x64 exception handling: UWOP_PUSH_MACHFRAME is 10; codes start at offset 4.)
bool interrupts_caller(std::uint64_t image_base, const RUNTIME_FUNCTION& entry,
                       std::uint64_t ip) noexcept {
  constexpr BYTE kPushMachineFrame = 10;
  const auto* info = reinterpret_cast<const BYTE*>(image_base + entry.UnwindData);
  const BYTE count = info[2];
  // On its return instruction, RtlVirtualUnwind executes that and looks at no code.
  constexpr BYTE kRet = 0xC3;
  if (count == 0 || *reinterpret_cast<const BYTE*>(ip) == kRet) return false;
  // The machine frame is pushed first, so its code is the last one: its offset, then its operation.
  const BYTE* code = info + 4 + 2 * (count - 1);
  if ((code[1] & 0xF) != kPushMachineFrame) return false;
  // It may as well be the operand of a code: the size of a frame of 0x5000 bytes, say.
  const GuardedReader memory;
  return has_machine_frame({memory, memory, image_base},
                           {entry.BeginAddress, entry.EndAddress, entry.UnwindData},
                           static_cast<std::uint32_t>(ip - image_base - entry.BeginAddress));
}

}  // namespace

RtlUnwindStep::RtlUnwindStep(const StackCopy& stack, const ModuleView& modules) noexcept
    : stack_(stack), modules_(modules) {
  ZeroMemory(&context_, sizeof context_);
  context_.ContextFlags = CONTEXT_CONTROL | CONTEXT_INTEGER;
}

void RtlUnwindStep::unwind(void* call) {
  auto& unwind = *static_cast<Unwind*>(call);
  DWORD64 image_base = 0;
  RUNTIME_FUNCTION* entry = RtlLookupFunctionEntry(unwind.lookup_ip, &image_base, nullptr);
  if (entry == nullptr) return;
  unwind.found = true;
  // A return address that is its function's end belongs to the next function: the look-up stepped
  // back, and so must the unwinder, which compares the address with the prologue's length.
  const DWORD64 ip =
      unwind.ip < image_base + entry->EndAddress ? unwind.ip : unwind.lookup_ip;
  unwind.machine_frame = interrupts_caller(image_base, *entry, ip);
  void* handler_data = nullptr;
  DWORD64 establisher = 0;
  RtlVirtualUnwind(UNW_FLAG_NHANDLER, image_base, ip, entry, &unwind.context, &handler_data,
                   &establisher, nullptr);
}

StepResult RtlUnwindStep::step(Cursor& frame, LeafRule leaf) noexcept {
  const std::uint64_t rsp = frame.registers.rsp();
  if (rsp < stack_.begin() || rsp > stack_.end() || stack_.end() - rsp < 8) {
    return {StepFault::unreadable_stack};
  }
  // Folklore: Wine's look-up walks the loader's list without its lock (fixtures/native/lookup_race.c
  // dies of it), and faults, or finds nothing, where an image is freed meanwhile. Real case: one frame
  // in 50,000 of the torture, which frees images without a pause. Remedy: the list that it fell over is
  // gone; the one that there is now is looked at. Where the code itself is gone, that fails as well.
  constexpr int kLooks = 3;
  Unwind call{frame.registers.rip, frame.code().lookup(), context_};
  bool looked = false;
  const auto settled = [&] { return looked && (call.found || leaf != LeafRule::forbidden); };
  for (int i = 0; i < kLooks && !settled(); ++i) {
    set_registers(context_, stack_.to_copy(frame.registers));
    call.found = call.machine_frame = false;
    looked = guarded_call(&unwind, &call);
  }
  if (!looked) return {StepFault::unreadable_unwind};

  Cursor caller;
  Trust trust = Trust::leaf;
  if (call.found) {
    caller.registers = stack_.to_target(registers_of(context_));
    caller.kind =
        call.machine_frame ? AddressKind::instruction_pointer : AddressKind::return_address;
    trust = modules_.find(call.lookup_ip) != nullptr ? Trust::unwind_info : Trust::dynamic;
  } else {
    // No unwind data: a leaf function, whose return address is at Rsp. The runtime's write
    // barriers and thunks are such functions, and lie outside every image.
    if (leaf == LeafRule::forbidden) return {StepFault::no_unwind};
    const auto return_address = stack_.read_value<std::uint64_t>(rsp);
    if (!return_address) return {StepFault::unreadable_stack};
    caller.registers = frame.registers;
    caller.registers.rip = *return_address;
    caller.registers[Register::rsp] = rsp + 8;
    caller.kind = AddressKind::return_address;
  }
  if (caller.registers.rsp() <= rsp) return {StepFault::stack_not_growing};
  if (caller.registers.rsp() > stack_.end()) return {StepFault::unreadable_stack};
  frame = caller;
  return {StepFault::none, trust};
}

}  // namespace mixwalk
