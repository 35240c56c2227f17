#include "symbols/calls/disassembler.h"

#include <capstone/capstone.h>

#include <algorithm>
#include <new>

namespace mixwalk {

struct Disassembler::Capstone {
  Capstone() {
    // This can fail only for lack of memory.
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK) throw std::bad_alloc();
    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    instruction = cs_malloc(handle);
    if (instruction == nullptr) {
      cs_close(&handle);
      throw std::bad_alloc();
    }
  }
  ~Capstone() {
    cs_free(instruction, 1);
    cs_close(&handle);
  }
  Capstone(const Capstone&) = delete;
  Capstone& operator=(const Capstone&) = delete;

  csh handle = 0;
  cs_insn* instruction = nullptr;
};

namespace {

using Kind = FlowInstruction::Kind;
using Target = FlowInstruction::Target;

Kind kind_of(const cs_insn& instruction) {
  switch (instruction.id) {
    case X86_INS_CALL: return Kind::call;  // 64-bit programs have no far calls (FF /3)
    case X86_INS_JMP:
    case X86_INS_LJMP: return Kind::jump;
    case X86_INS_SYSCALL:
    case X86_INS_SYSENTER: return Kind::system_call;
    case X86_INS_RET:
    case X86_INS_RETF:
    case X86_INS_RETFQ:
    case X86_INS_IRET:
    case X86_INS_IRETD:
    case X86_INS_IRETQ:
    case X86_INS_INT1:
    case X86_INS_INT3:
    case X86_INS_UD0:
    case X86_INS_UD1:
    case X86_INS_UD2:
    case X86_INS_HLT:
    case X86_INS_SYSRET: return Kind::end;
    case X86_INS_INT: {
      constexpr std::int64_t kSystemCall = 0x2E, kFailFast = 0x29;
      const cs_x86& x86 = instruction.detail->x86;
      const std::int64_t number = x86.op_count == 1 ? x86.operands[0].imm : 0;
      return number == kSystemCall ? Kind::system_call : number == kFailFast ? Kind::end : Kind::other;
    }
    case X86_INS_LOOP:
    case X86_INS_LOOPE:
    case X86_INS_LOOPNE:
    case X86_INS_JCXZ:
    case X86_INS_JECXZ:
    case X86_INS_JRCXZ: return Kind::conditional_jump;
    default: break;
  }
  const cs_detail& detail = *instruction.detail;
  const auto* const groups_end = detail.groups + detail.groups_count;
  return std::find(detail.groups, groups_end, CS_GRP_JUMP) != groups_end ? Kind::conditional_jump
                                                                         : Kind::other;
}

void set_target(const cs_insn& instruction, FlowInstruction& flow) {
  flow.target = Target::unknown;
  const cs_x86& x86 = instruction.detail->x86;
  if (x86.op_count != 1) return;
  const cs_x86_op& operand = x86.operands[0];
  if (operand.type == X86_OP_IMM) {
    flow.target = Target::direct;
    flow.address = static_cast<std::uint64_t>(operand.imm);
  } else if (operand.type == X86_OP_MEM && operand.mem.base == X86_REG_RIP &&
             operand.mem.index == X86_REG_INVALID &&
             (operand.mem.segment == X86_REG_INVALID || operand.mem.segment == X86_REG_CS ||
              operand.mem.segment == X86_REG_DS)) {
    flow.target = Target::slot;
    flow.address = instruction.address + instruction.size + static_cast<std::uint64_t>(operand.mem.disp);
  }
}

bool writes_return(const cs_insn& instruction) {
  if (instruction.id == X86_INS_PUSH) return true;
  const cs_x86& x86 = instruction.detail->x86;
  if (x86.op_count == 0) return false;
  const cs_x86_op& to = x86.operands[0];
  if ((to.access & CS_AC_WRITE) == 0) return false;
  if (to.type == X86_OP_REG) {
    const bool sets = instruction.id == X86_INS_MOV || instruction.id == X86_INS_XCHG;
    return to.reg == X86_REG_RSP && sets;
  }
  return to.type == X86_OP_MEM && to.mem.base == X86_REG_RSP && to.mem.index == X86_REG_INVALID &&
         to.mem.disp == 0;
}

}  // namespace

Disassembler::Disassembler() : capstone_(std::make_unique<Capstone>()) {}
Disassembler::~Disassembler() = default;

bool Disassembler::next(std::span<const std::byte> code, std::uint64_t address) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data());
  std::size_t left = std::min<std::size_t>(code.size(), kLongestInstruction);
  return left != 0 && cs_disasm_iter(capstone_->handle, &bytes, &left, &address, capstone_->instruction);
}

std::optional<FlowInstruction> Disassembler::decode(std::span<const std::byte> code, std::uint64_t address) {
  if (!next(code, address)) return std::nullopt;
  const cs_insn& instruction = *capstone_->instruction;
  FlowInstruction flow{.kind = kind_of(instruction), .bytes = static_cast<std::uint8_t>(instruction.size)};
  if (flow.kind == Kind::call || flow.kind == Kind::jump || flow.kind == Kind::conditional_jump) {
    set_target(instruction, flow);
  }
  flow.writes_return = writes_return(instruction);
  return flow;
}

std::string Disassembler::text(std::span<const std::byte> code, std::uint64_t address) {
  if (!next(code, address)) return {};
  const std::string mnemonic = capstone_->instruction->mnemonic;
  const std::string operands = capstone_->instruction->op_str;
  return operands.empty() ? mnemonic : mnemonic + " " + operands;
}

}  // namespace mixwalk
