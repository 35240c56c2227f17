#include "unmanaged/step/epilogue.h"

#include <optional>

#include "unmanaged/step/instructions.h"

namespace mixwalk {
namespace {

// An epilogue pops each of the sixteen registers at most once.
constexpr int kMaxPops = 16;

constexpr std::uint64_t extend(std::int64_t displacement) noexcept {
  return static_cast<std::uint64_t>(displacement);
}

// Skips `add rsp, imm8/imm32` and returns the number that it adds.
std::optional<std::uint64_t> take_add_rsp(Instructions& code) noexcept {
  if (code.starts_with(0x48, 0x83, 0xC4)) {
    const auto amount = code.value<std::int8_t>(3);
    if (!amount) return std::nullopt;
    code.skip(4);
    return extend(*amount);
  }
  if (code.starts_with(0x48, 0x81, 0xC4)) {
    const auto amount = code.value<std::int32_t>(3);
    if (!amount) return std::nullopt;
    code.skip(7);
    return extend(*amount);
  }
  return std::nullopt;
}

// Skips `lea rsp, [frame + disp8/disp32]` and returns the new rsp. Only the function's frame register is accepted.
std::optional<std::uint64_t> take_lea_rsp(Instructions& code, Register frame_register,
                                          const Registers& registers) noexcept {
  if (frame_register == Register::rax) return std::nullopt;
  const auto rex = code.peek(0);
  const auto opcode = code.peek(1);
  const auto modrm = code.peek(2);
  if (!rex || !modrm || (*rex & 0xFE) != 0x48 || opcode != 0x8D) return std::nullopt;
  const auto base = static_cast<Register>((*rex & 1u) << 3 | (*modrm & 7u));
  if (base != frame_register || (*modrm >> 3 & 7) != 4) return std::nullopt;  // 4 is rsp
  if ((*modrm & 7) == 4) return std::nullopt;  // a SIB byte, which no epilogue has
  switch (*modrm >> 6) {
    case 0:
      if ((*modrm & 7) == 5) return std::nullopt;  // rip-relative
      code.skip(3);
      return registers[base];
    case 1: {
      const auto disp = code.value<std::int8_t>(3);
      if (!disp) return std::nullopt;
      code.skip(4);
      return registers[base] + extend(*disp);
    }
    case 2: {
      const auto disp = code.value<std::int32_t>(3);
      if (!disp) return std::nullopt;
      code.skip(7);
      return registers[base] + extend(*disp);
    }
    default: return std::nullopt;
  }
}

// A jump to an address that is called like a function is a tail call. A jump to a place inside a function, or to
// another part of this one (Microsoft's compiler chains the parts, gcc has .cold ones), does not end the frame.
bool is_tail_call(const UnwindMemory& memory, const ModuleSpan* module,
                  const FunctionEntry& entry, std::uint64_t target) noexcept {
  const std::uint64_t begin = memory.image_base + entry.begin;
  if (target > begin && target < memory.image_base + entry.end) return false;
  if (module == nullptr || !module->contains(target)) return true;
  const auto rva = static_cast<std::uint32_t>(target - module->base);
  const EntrySearch other = find_entry(memory.code, *module, rva);
  if (!other.found) return true;  // a leaf function, or a thunk
  return other.entry.begin == rva && summarise_unwind(memory, other.entry).callable;
}

// Whether the instruction is a return, or a jump that leaves the function for good.
bool leaves_function(const Instructions& code, const UnwindMemory& memory, const ModuleSpan* module,
                     const FunctionEntry& entry) noexcept {
  const auto first = code.peek(0);
  if (!first) return false;
  switch (*first) {
    case 0xC3:  // ret
    case 0xC2:  // ret imm16
      return true;
    case 0xF3:  // rep ret
      return code.peek(1) == 0xC3;
    case 0xEB:  // jmp rel8
    case 0xE9: {  // jmp rel32
      const auto target = code.relative_jump();
      return target && is_tail_call(memory, module, entry, *target);
    }
    case 0xFF: {  // through a cell: jmp [rip + disp32] for an import, jmp [disp32] for the JIT below 2 GiB
      const auto modrm = code.peek(1);
      return modrm == 0x25 || (modrm == 0x24 && code.peek(2) == 0x25);
    }
    default:
      break;
  }
  // rex.w jmp reg or [reg]: the compiler marks an indirect tail call by the prefix.
  const auto opcode = code.peek(1);
  const auto modrm = code.peek(2);
  return (*first & 0xF8) == 0x48 && opcode == 0xFF && modrm && (*modrm >> 3 & 7) == 4;
}

}  // namespace

EpilogueResult unwind_epilogue(const UnwindMemory& memory, const ModuleSpan* module,
                               const FunctionEntry& entry, Register frame_register,
                               Registers& registers) noexcept {
  Instructions code(memory.code, registers.rip);
  Registers caller = registers;
  std::uint64_t& rsp = caller[Register::rsp];
  if (const auto added = take_add_rsp(code)) {
    rsp += *added;
  } else if (const auto moved = take_lea_rsp(code, frame_register, caller)) {
    rsp = *moved;
  }
  // The whole epilogue is recognised first, because bytes in the middle of a body that look like a pop are not an
  // epilogue.
  Instructions ahead = code;
  int pops = 0;
  while (pops < kMaxPops && ahead.take_pop()) ++pops;
  if (!leaves_function(ahead, memory, module, entry)) {
    return EpilogueResult::not_in_epilogue;
  }

  for (; pops != 0; --pops) {
    const Register popped = *code.take_pop();
    std::uint64_t value = 0;
    if (!memory.stack.read(rsp, &value, sizeof value)) return EpilogueResult::unreadable_stack;
    rsp += 8;
    caller[popped] = value;
  }
  if (!memory.stack.read(rsp, &caller.rip, sizeof caller.rip)) {
    return EpilogueResult::unreadable_stack;
  }
  rsp += 8;
  registers = caller;
  return EpilogueResult::unwound;
}

}  // namespace mixwalk
