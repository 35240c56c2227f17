#include "unmanaged/step/unwind_info.h"

#include <optional>

namespace mixwalk {
namespace {

// UNWIND_INFO, its first four bytes.
struct Header {
  std::uint8_t version_flags;
  std::uint8_t prologue_bytes;
  std::uint8_t code_count;  // 16-bit slots
  std::uint8_t frame;       // register, and its offset / 16 above

  unsigned version() const noexcept { return version_flags & 7u; }
  bool chained() const noexcept { return (version_flags >> 3 & kChainInfo) != 0; }
  Register frame_register() const noexcept { return static_cast<Register>(frame & 15u); }
  std::uint64_t frame_offset() const noexcept { return (frame >> 4) * 16u; }

  static constexpr unsigned kChainInfo = 4;  // UNW_FLAG_CHAININFO
};
static_assert(sizeof(Header) == 4);

enum class Op : std::uint8_t {
  push_nonvol = 0, alloc_large = 1, alloc_small = 2, set_fpreg = 3, save_nonvol = 4,
  save_nonvol_far = 5, epilog = 6, spare = 7, save_xmm128 = 8, save_xmm128_far = 9,
  push_machframe = 10,
};

struct Code {
  std::uint8_t offset;  // of the end of the prologue instruction
  std::uint8_t op_info;

  Op op() const noexcept { return static_cast<Op>(op_info & 15u); }
  std::uint8_t info() const noexcept { return op_info >> 4; }
  Register reg() const noexcept { return static_cast<Register>(info()); }
};

// Real chains have one or two links (e_sqlite3.dll: half of its entries are chained once).
constexpr int kMaxChain = 32;

// Slots that an operation takes; 0: no operation of that number.
unsigned slots(Code code) noexcept {
  switch (code.op()) {
    case Op::push_nonvol:
    case Op::alloc_small:
    case Op::set_fpreg:
    case Op::push_machframe: return 1;
    case Op::alloc_large: return code.info() == 0 ? 2 : code.info() == 1 ? 3 : 0;
    case Op::save_nonvol:
    case Op::epilog:
    case Op::save_xmm128: return 2;
    case Op::save_nonvol_far:
    case Op::spare:
    case Op::save_xmm128_far: return 3;
  }
  return 0;
}

// One UNWIND_INFO under execution.
class Program {
 public:
  Program(const UnwindMemory& memory, std::uint32_t rva, const Header& header) noexcept
      : memory_(memory),
        codes_(memory.image_base + rva + sizeof(Header)),
        header_(header) {}

  // `executed`: how many bytes of this prologue were; codes beyond it have not happened.
  UnwoundPrologue run(std::uint32_t executed, Registers& registers) const noexcept {
    const std::uint64_t frame = frame_base(executed, registers);
    for (unsigned slot = 0; slot < header_.code_count;) {
      const auto code = memory_.code.read_value<Code>(at(slot));
      if (!code) return {StepFault::unreadable_unwind};
      const unsigned used = slots(*code);
      if (used == 0 || slot + used > header_.code_count) return {StepFault::bad_unwind};
      if (code->op() == Op::epilog && header_.version() < 2) return {StepFault::bad_unwind};
      if (code->offset <= executed || code->op() == Op::epilog) {
        const UnwoundPrologue done = undo(*code, slot, frame, registers);
        if (done.fault != StepFault::none || done.machine_frame) return done;
      }
      slot += used;
    }
    return {};
  }

  bool has_machine_frame(std::uint32_t executed) const noexcept {
    for (unsigned slot = 0; slot < header_.code_count;) {
      const auto code = memory_.code.read_value<Code>(at(slot));
      if (!code) return false;
      if (code->op() == Op::push_machframe) return code->offset <= executed;
      const unsigned used = slots(*code);
      if (used == 0) return false;
      slot += used;
    }
    return false;
  }

  // The entry that a chained info goes on with: it follows the codes, which are padded to an even
  // number.
  std::optional<FunctionEntry> chained() const noexcept {
    return memory_.code.read_value<FunctionEntry>(at((header_.code_count + 1u) & ~1u));
  }

 private:
  std::uint64_t at(unsigned slot) const noexcept { return codes_ + std::uint64_t{slot} * 2; }

  // Saved registers lie relative to Rsp as it is after the prologue: known by the frame register
  // once that is set, since the body may move Rsp (alloca).
  std::uint64_t frame_base(std::uint32_t executed, const Registers& registers) const noexcept {
    if (header_.frame_register() == Register::rax) return registers.rsp();
    if (executed < header_.prologue_bytes) {
      for (unsigned slot = 0; slot < header_.code_count;) {
        const auto code = memory_.code.read_value<Code>(at(slot));
        if (!code) break;
        if (code->op() == Op::set_fpreg && code->offset > executed) return registers.rsp();
        const unsigned used = slots(*code);
        if (used == 0) break;
        slot += used;
      }
    }
    return registers[header_.frame_register()] - header_.frame_offset();
  }

  UnwoundPrologue undo(Code code, unsigned slot, std::uint64_t frame,
                       Registers& registers) const noexcept {
    std::uint64_t& rsp = registers[Register::rsp];
    switch (code.op()) {
      case Op::push_nonvol:
        if (!load(rsp, registers[code.reg()])) return {StepFault::unreadable_stack};
        rsp += 8;
        return {};
      case Op::alloc_large: {
        const auto bytes = code.info() == 0 ? operand16(slot, 8) : operand32(slot);
        if (!bytes) return {StepFault::unreadable_unwind};
        rsp += *bytes;
        return {};
      }
      case Op::alloc_small: rsp += code.info() * 8u + 8; return {};
      case Op::set_fpreg: rsp = registers[header_.frame_register()] - header_.frame_offset(); return {};
      case Op::save_nonvol:
      case Op::save_nonvol_far: {
        const auto where = code.op() == Op::save_nonvol ? operand16(slot, 8) : operand32(slot);
        if (!where) return {StepFault::unreadable_unwind};
        if (!load(frame + *where, registers[code.reg()])) return {StepFault::unreadable_stack};
        return {};
      }
      case Op::push_machframe: {
        // On top an error code (info 1), then Rip, Cs, RFlags, Rsp, Ss as the processor pushed.
        const std::uint64_t trap = rsp + (code.info() != 0 ? 8 : 0);
        std::uint64_t caller_rsp = 0;
        if (!load(trap, registers.rip) || !load(trap + 24, caller_rsp)) {
          return {StepFault::unreadable_stack};
        }
        rsp = caller_rsp;
        return {StepFault::none, true};
      }
      case Op::epilog:       // where epilogues lie: nothing to undo
      case Op::spare:        // never emitted
      case Op::save_xmm128:  // no frame address depends on an XMM register
      case Op::save_xmm128_far: return {};
    }
    return {StepFault::bad_unwind};
  }

  bool load(std::uint64_t address, std::uint64_t& into) const noexcept {
    return memory_.stack.read(address, &into, sizeof into);
  }
  std::optional<std::uint64_t> operand16(unsigned slot, unsigned scale) const noexcept {
    const auto value = memory_.code.read_value<std::uint16_t>(at(slot + 1));
    if (!value) return std::nullopt;
    return std::uint64_t{*value} * scale;
  }
  std::optional<std::uint64_t> operand32(unsigned slot) const noexcept {
    const auto value = memory_.code.read_value<std::uint32_t>(at(slot + 1));
    if (!value) return std::nullopt;
    return std::uint64_t{*value};
  }

  const UnwindMemory& memory_;
  const std::uint64_t codes_;
  const Header header_;
};

bool known(const Header& header) noexcept {
  return header.version() == 1 || header.version() == 2;
}

}  // namespace

bool has_machine_frame(const UnwindMemory& memory, const FunctionEntry& entry,
                       std::uint32_t offset) noexcept {
  const auto header = memory.code.read_value<Header>(memory.image_base + entry.unwind);
  if (!header || !known(*header)) return false;
  return Program(memory, entry.unwind, *header).has_machine_frame(offset);
}

UnwindSummary summarise_unwind(const UnwindMemory& memory, const FunctionEntry& entry) noexcept {
  const auto header = memory.code.read_value<Header>(memory.image_base + entry.unwind);
  if (!header) return {StepFault::unreadable_unwind};
  if (!known(*header)) return {StepFault::bad_unwind};
  const bool enters_with_frame =
      header->chained() || (header->prologue_bytes == 0 && header->code_count != 0);
  return {StepFault::none, header->frame_register(), !enters_with_frame};
}

UnwoundPrologue unwind_prologue(const UnwindMemory& memory, const FunctionEntry& entry,
                                std::uint32_t offset, Registers& registers) noexcept {
  FunctionEntry current = entry;
  // A chained info's prologue is always complete: the function was entered through it.
  constexpr std::uint32_t kComplete = 0xFFFF'FFFF;
  for (int link = 0; link < kMaxChain; ++link) {
    const auto header = memory.code.read_value<Header>(memory.image_base + current.unwind);
    if (!header) return {StepFault::unreadable_unwind};
    if (!known(*header)) return {StepFault::bad_unwind};
    const Program program(memory, current.unwind, *header);
    const UnwoundPrologue done = program.run(link == 0 ? offset : kComplete, registers);
    if (done.fault != StepFault::none || done.machine_frame || !header->chained()) return done;
    const auto next = program.chained();
    if (!next) return {StepFault::unreadable_unwind};
    current = *next;
  }
  return {StepFault::bad_unwind};
}

}  // namespace mixwalk
