#include "unmanaged/win/rtl_unwind_step.h"

#include <algorithm>
#include <cstring>

#include "unmanaged/step/caller_check.h"
#include "unmanaged/step/context_restore.h"
#include "unmanaged/step/dispatchers.h"
#include "unmanaged/step/epilogue.h"
#include "unmanaged/step/epilogue_scan.h"
#include "unmanaged/step/interrupted_context.h"
#include "unmanaged/step/redirected.h"
#include "unmanaged/step/saved_rsp.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/step/unwind_info.h"
#include "unmanaged/win/context.h"
#include "unmanaged/win/guarded.h"

// ntdll
extern "C" __declspec(dllimport) void KiUserExceptionDispatcher();
extern "C" __declspec(dllimport) void KiUserApcDispatcher();
extern "C" __declspec(dllimport) void KiUserCallbackDispatcher();

namespace mixwalk {

struct RtlUnwindStep::Unwind {
  std::uint64_t ip;          // the frame's own address
  std::uint64_t lookup_ip;   // an address inside the frame's instruction
  const ModuleSpan* module;  // the image that holds the frame's code; null if none of the list does
  EntryHints* hints;         // for images; null if there are none
  CONTEXT& context;
  bool at_instruction;  // `ip` is not a return address, so the frame may be in an epilogue
  bool ask_system = false;
  LookUp asked = LookUp::done;  // how the system's look-up ended
  Function function = {};  // the function that holds `ip`, once it has been looked up
  bool machine_frame = false;
  bool restored = false;  // the thread restores a CONTEXT and continues with its registers
  StepFault fault = StepFault::none;
  std::uint64_t function_begin = 0;

  bool found() const noexcept { return function.entry != nullptr; }
  // An entry may hold many functions, because some engines register one entry for all of their code.
  LeafCode whole_entry() const noexcept {
    return {function.image_base + function.entry->BeginAddress,
            function.image_base + function.entry->EndAddress};
  }
};

namespace {

Dispatchers own_dispatchers() noexcept {
  return {.exception = reinterpret_cast<std::uint64_t>(&KiUserExceptionDispatcher),
          .apc = reinterpret_cast<std::uint64_t>(&KiUserApcDispatcher),
          .callback = reinterpret_cast<std::uint64_t>(&KiUserCallbackDispatcher)};
}

// Reads memory inside guarded_call, without a guard for each read. Unlike other MemoryReaders this one
// may fault: the fault ends the guarded call. `image` is null, or an image of which only what may be read is read.
class UnguardedReader final : public MemoryReader {
 public:
  explicit UnguardedReader(const ModuleSpan* image) noexcept : image_(image) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    if (image_ != nullptr && image_->contains(address) && !image_->may_read(address, bytes)) return false;
    const auto* from = reinterpret_cast<const void*>(address);
    // The sizes that unwinding reads most are copied without a call.
    switch (bytes) {
      case 1: std::memcpy(into, from, 1); break;
      case 4: std::memcpy(into, from, 4); break;
      case 12: std::memcpy(into, from, 12); break;
      default: std::memcpy(into, from, bytes); break;
    }
    return true;
  }

 private:
  const ModuleSpan* image_;
};

}  // namespace

// Unwinds by our own decoder; the frame is not in an epilogue. The context's Rsp, and the values saved on the stack,
// are already addresses of the copy, so they are read unchanged.
void RtlUnwindStep::unwind_body(const UnwindMemory& memory, const FunctionEntry& entry,
                                std::uint64_t ip, Unwind& unwind) noexcept {
  Registers registers = registers_of(unwind.context);
  const auto offset = static_cast<std::uint32_t>(ip - memory.image_base - entry.begin);
  const UnwoundPrologue done = unwind_prologue(memory, entry, offset, registers);
  unwind.fault = done.fault;
  unwind.machine_frame = done.machine_frame;
  if (done.fault != StepFault::none) return;
  if (!done.machine_frame) {
    std::uint64_t& rsp = registers[Register::rsp];
    if (!memory.stack.read(rsp, &registers.rip, sizeof registers.rip)) {
      unwind.fault = StepFault::unreadable_stack;
      return;
    }
    rsp += 8;
  }
  set_registers(unwind.context, registers);
}

RtlUnwindStep::RtlUnwindStep(const StackCopy& stack, const ModuleView& modules,
                             const Known& known) noexcept
    : stack_(stack),
      modules_(modules),
      hints_(known.hints),
      outside_(known.outside != nullptr ? *known.outside : own_outside_),
      memory_(modules, outside_),
      leaf_(modules, memory_, stack, outside_) {
  ZeroMemory(&context_, sizeof context_);
  context_.ContextFlags = CONTEXT_CONTROL | CONTEXT_INTEGER;
}

// Finds the same entry as RtlLookupFunctionEntry. Under Wine, RtlLookupFunctionEntry goes through the list of all
// images and then searches like this function. The system is asked if an image has no entry, since the program may have
// registered one with the system, and if `ask_system` says that the image was unloaded since it was listed.
RtlUnwindStep::Function RtlUnwindStep::look_up(Unwind& unwind) noexcept {
  if (unwind.module != nullptr && !unwind.ask_system) {
    const auto rva = static_cast<std::uint32_t>(unwind.lookup_ip - unwind.module->base);
    const EntrySearch search = find_entry(UnguardedReader(unwind.module), *unwind.module, rva, unwind.hints);
    if (search.found) {
      return {reinterpret_cast<RUNTIME_FUNCTION*>(search.address), unwind.module->base};
    }
  }
  struct Question {
    std::uint64_t ip;
    Function found;
  } question{unwind.lookup_ip, {}};
  unwind.asked = guarded_look_up(
      [](void* argument) {
        auto& [ip, found] = *static_cast<Question*>(argument);
        found.entry = RtlLookupFunctionEntry(ip, &found.image_base, nullptr);
      },
      &question);
  return unwind.asked == LookUp::ended ? Function{} : question.found;
}

void RtlUnwindStep::unwind(void* call) {
  auto& unwind = *static_cast<Unwind*>(call);
  unwind.function = look_up(unwind);
  if (!unwind.found()) return;
  const auto [entry, image_base] = unwind.function;
  const UnguardedReader code(unwind.module);
  // A return address that is its function's end is also the start of the next function. The look-up stepped back onto
  // the call, and so must the unwinder, which compares the address with the prologue's length.
  const DWORD64 ip =
      unwind.ip < image_base + entry->EndAddress ? unwind.ip : unwind.lookup_ip;
  const GuardedReader stack;
  const UnwindMemory memory{code, stack, image_base};
  const FunctionEntry known{entry->BeginAddress, entry->EndAddress, entry->UnwindData};
  const UnwindCheck check =
      check_unwind(memory, known, static_cast<std::uint32_t>(ip - image_base - known.begin));
  unwind.fault = check.fault;
  if (unwind.fault != StepFault::none) return;
  unwind.function_begin = image_base + check.function_begin;
  // Most frames have return addresses. For a return address the frame register is not needed.
  const Register frame_register =
      unwind.at_instruction ? summarise_unwind(memory, known).frame_register : Register::rax;
  if (unwind.at_instruction && unwind.module != nullptr) {
    if (const auto restored =
            restored_registers(memory, known, frame_register, registers_of(unwind.context))) {
      set_registers(unwind.context, *restored);
      unwind.machine_frame = true;  // the code that continues has not called anything
      unwind.restored = true;
      return;
    }
  }
  if (!epilogue_scan_ends(code, ip, image_base + known.begin, image_base + known.end)) {
    unwind_body(memory, known, ip, unwind);
    return;
  }
  // Our own decoder comes first. Folklore: Wine 8's unwinder does not recognise an epilogue that ends in a tail call
  // (`rex.w jmp [reg]`, `jmp rel32` to another function, `jmp [rip + disp32]`), and undoes the prologue once more;
  // later versions recognise all of them. Real case: a thread in ReadyToRun code got a stack of one frame, since a zero
  // near the stack's base was taken for its root. Test: unwind_differential_test, tail calls.
  const bool same_image = unwind.module == nullptr || unwind.module->base == image_base;
  if (unwind.at_instruction && same_image) {
    Registers caller = registers_of(unwind.context);
    if (unwind_epilogue(memory, unwind.module, known, frame_register, caller) ==
        EpilogueResult::unwound) {
      set_registers(unwind.context, caller);
      return;
    }
  }
  // RtlVirtualUnwind does not say whether it pops a trap's frame. If the code at the address is a return instruction,
  // RtlVirtualUnwind executes that instruction and reads no unwind code.
  constexpr BYTE kRet = 0xC3;
  unwind.machine_frame = check.machine_frame && *reinterpret_cast<const BYTE*>(ip) != kRet;
  void* handler_data = nullptr;
  DWORD64 establisher = 0;
  RtlVirtualUnwind(UNW_FLAG_NHANDLER, image_base, ip, entry, &unwind.context, &handler_data,
                   &establisher, nullptr);
  Registers caller = registers_of(unwind.context);
  if (skip_saved_rsp(stack, caller)) set_registers(unwind.context, caller);
  unwind.machine_frame |= unwind.module != nullptr && is_redirected(memory, known, ip);
  unwind.machine_frame |= own_dispatchers().interrupts(unwind.function_begin);
}

StepResult RtlUnwindStep::step(Cursor& frame, LeafRule leaf) noexcept {
  const std::uint64_t rsp = frame.registers.rsp();
  if (rsp < stack_.begin() || rsp > stack_.end() || stack_.end() - rsp < 8) {
    return {StepFault::unreadable_stack};
  }
  const bool guessed = frame.guessed;
  if (frame.registers.rip == own_dispatchers().exception && frame.kind == AddressKind::instruction_pointer) {
    if (const auto interrupted = interrupted_context(stack_, rsp)) {
      if (interrupted->rsp() <= rsp) return {StepFault::stack_not_growing};
      frame = {*interrupted, AddressKind::instruction_pointer};
      return {.trust = Trust::context};  // the registers that the system saved
    }
  }
  // Situation: a call through a null pointer, or into data. No instruction of the callee was executed.
  if (leaf == LeafRule::allowed && !leaf_.is_code(frame.registers.rip)) {
    return leaf_.step(frame, {frame.registers.rip, frame.registers.rip});
  }
  // Folklore: Wine's look-up walks the loader's list without its lock (fixtures/native/lookup_race.c makes it crash),
  // and faults, or finds nothing, if an image is freed meanwhile. Real case: one frame in 50,000 of the torture test,
  // which frees images without a pause. Remedy: the look-up is repeated on the current list. If the code itself has
  // been freed, the repetition fails as well.
  constexpr int kLooks = 3;
  const std::uint64_t lookup_ip = frame.code().lookup();
  const bool known = lookup_ip == caller_.lookup_ip;
  const ModuleSpan* const module = known ? caller_.module : modules_.find(lookup_ip);
  // The system's unwinder would read the image, including pages that the program has closed.
  if (module != nullptr && module->closed) return {StepFault::unreadable_unwind};
  Unwind call{frame.registers.rip, lookup_ip, module, hints_, context_,
              frame.kind == AddressKind::instruction_pointer};
  bool looked = false, faulted = false;
  const auto settled = [&] {
    return looked && (call.found() || (leaf != LeafRule::forbidden && call.asked == LookUp::done));
  };
  for (int i = 0; i < kLooks && !settled(); ++i) {
    call.ask_system = i != 0;
    set_registers(context_, stack_.to_copy(frame.registers));
    call.machine_frame = false;
    call.restored = false;
    call.fault = StepFault::none;
    call.asked = LookUp::done;
    looked = guarded_call(&unwind, &call) && call.asked != LookUp::ended;
    faulted = faulted || !looked;
  }
  // Code whose table cannot be read is not the same as code without unwind data.
  const bool unreadable = call.asked == LookUp::repaired || (faulted && module != nullptr);
  if (!looked || (unreadable && !call.found())) return {StepFault::unreadable_unwind};

  if (!call.found()) {
    // The runtime's write barriers and thunks are code without unwind data, outside every image.
    if (module != nullptr && returns_to_start(frame, *module, memory_)) return {StepFault::no_call};
    StepResult stepped{StepFault::no_unwind};
    if (leaf == LeafRule::allowed) stepped = leaf_.step(frame, leaf_code_at(frame.registers.rip));
    stepped.no_unwind_data = true;
    return stepped;
  }
  if (call.fault != StepFault::none) return {call.fault};
  Cursor caller;
  caller.registers = stack_.to_target(registers_of(context_));
  caller.kind =
      call.machine_frame ? AddressKind::instruction_pointer : AddressKind::return_address;
  if (call.function_begin == own_dispatchers().callback) {
    if (const auto entered = callback_caller(stack_, memory_, caller.registers)) {
      caller = {*entered, AddressKind::instruction_pointer};
    }
  }
  const bool grows =
      call.restored ? step_makes_progress(frame.registers, caller.registers) : caller.registers.rsp() > rsp;
  if (!grows) return {StepFault::stack_not_growing};
  if (caller.registers.rsp() > stack_.end()) return {StepFault::unreadable_stack};
  if (call.restored) {
    frame = caller;
    return {.trust = Trust::context};
  }
  const StepFault fault = check_caller(caller, module, guessed);
  if (fault != StepFault::none) return {.fault = fault, .caller_rsp = caller.registers.rsp()};
  // Situation: a routine pushed a return address that no call left there, and the frame to which that address would
  // lead happens to have a caller, by its frame pointer. That caller called another function.
  const LeafCode function{call.function_begin, call.function_begin};
  const bool returns = caller.registers.rip != 0 && caller.kind == AddressKind::return_address;
  if (guessed && returns && !leaf_.may_lead_to(caller.registers.rip, function)) {
    return {StepFault::no_call};
  }
  // Code outside the images may have been replaced by other code that has a frame of another size.
  const bool calls_other_code =
      module == nullptr && returns && leaf_.calls_other_code(caller.registers.rip, call.whole_entry());
  frame = caller;
  return {.trust = module != nullptr ? Trust::unwind_info : Trust::dynamic,
          .calls_other_code = calls_other_code};
}

LeafCode RtlUnwindStep::leaf_code_at(std::uint64_t ip) noexcept {
  if (const ModuleSpan* module = modules_.find(ip)) {
    const EntrySearch gap = find_entry(memory_, *module, static_cast<std::uint32_t>(ip - module->base));
    // The search finds an entry after all, because the image has changed meanwhile.
    if (gap.fault != StepFault::none || gap.found) return {ip, ip};
    return leaf_code(*module, gap, ip);
  }
  return {ip - std::min(ip, kMaxOutsideLeafBytes), ip};
}

// Also remembers what was found out about the caller's image.
StepFault RtlUnwindStep::check_caller(const Cursor& caller, const ModuleSpan* callee,
                                      bool guessed) noexcept {
  const std::uint64_t lookup_ip = caller.code().lookup();
  const bool returns = caller.kind == AddressKind::return_address && caller.registers.rip != 0;
  if (returns) caller_ = {lookup_ip, modules_.find(lookup_ip)};
  return mixwalk::check_caller({caller, returns ? caller_.module : nullptr, callee, guessed}, stack_, leaf_,
                               memory_);
}

}  // namespace mixwalk
