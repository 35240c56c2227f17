#include "unmanaged/step/unwind_info.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace mixwalk {
namespace {

// The first four bytes of UNWIND_INFO.
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

// The number of slots that each operation takes, by the operation's number; 0 if there is no operation with that
// number.
constexpr std::array<std::uint8_t, 16> kSlots = {1, 2, 1, 1, 2, 3, 2, 3, 2, 3, 1};

unsigned slots(Code code) noexcept {
  // A size that is given in bytes rather than in units of 8 takes one slot more.
  if (code.op() == Op::alloc_large && code.info() != 0) return code.info() == 1 ? 3 : 0;
  return kSlots[static_cast<std::size_t>(code.op())];
}

// Version 3 is that of code for APX (Microsoft Learn, "x64 unwind information v3").
StepFault check_version(const Header& header) noexcept {
  if (header.version() == 3) return StepFault::unwind_version_3;
  return header.version() == 1 || header.version() == 2 ? StepFault::none : StepFault::bad_unwind;
}

// One UNWIND_INFO, read as a whole.
class Info {
 public:
  StepFault read(const UnwindMemory& memory, std::uint32_t rva) noexcept {
    const std::uint64_t at = memory.image_base + rva;
    if (!memory.code.read(at, &header_, sizeof header_)) return StepFault::unreadable_unwind;
    if (const StepFault fault = check_version(header_); fault != StepFault::none) return fault;
    const std::size_t bytes =
        header_.chained() ? chained_at() + sizeof(FunctionEntry) : header_.code_count * kSlotBytes;
    if (bytes != 0 && !memory.code.read(at + sizeof header_, bytes_.data(), bytes)) {
      return StepFault::unreadable_unwind;
    }
    return codes_fit() ? StepFault::none : StepFault::bad_unwind;
  }

  bool chained() const noexcept { return header_.chained(); }
  FunctionEntry next() const noexcept { return value<FunctionEntry>(chained_at()); }

  // `executed` is the number of bytes of this prologue that were executed; codes beyond it are not undone.
  UnwoundPrologue run(const MemoryReader& stack, std::uint32_t executed,
                      Registers& registers) const noexcept {
    const std::uint64_t frame = frame_base(executed, registers);
    for (unsigned slot = 0; slot < header_.code_count; slot += slots(code_at(slot))) {
      const Code code = code_at(slot);
      if (code.op() == Op::epilog && header_.version() < 2) return {StepFault::bad_unwind};
      if (code.offset > executed && code.op() != Op::epilog) continue;
      const UnwoundPrologue done = undo(stack, code, slot, frame, registers);
      if (done.fault != StepFault::none || done.machine_frame) return done;
    }
    return {};
  }

  bool has_machine_frame(std::uint32_t executed) const noexcept {
    return machine_frame_ != kNone && machine_frame_ <= executed;
  }

 private:
  static constexpr std::size_t kSlotBytes = 2;
  static constexpr std::size_t kMaxSlots = 256;  // 255, padded to an even number
  static constexpr unsigned kNone = 256;

  template <class T>
  T value(std::size_t at) const noexcept {
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  Code code_at(unsigned slot) const noexcept { return value<Code>(slot * kSlotBytes); }
  // The entry to which a chained info refers follows the codes. The number of codes is padded to an even number.
  std::size_t chained_at() const noexcept { return ((header_.code_count + 1u) & ~1u) * kSlotBytes; }
  std::uint64_t operand16(unsigned slot) const noexcept {
    return value<std::uint16_t>((slot + 1) * kSlotBytes);
  }
  std::uint64_t operand32(unsigned slot) const noexcept {
    return value<std::uint32_t>((slot + 1) * kSlotBytes);
  }

  // Also records the offset of the machine frame's code.
  bool codes_fit() noexcept {
    machine_frame_ = kNone;
    unsigned slot = 0;
    while (slot < header_.code_count) {
      const Code code = code_at(slot);
      const unsigned used = slots(code);
      if (used == 0) return false;
      if (code.op() == Op::push_machframe) machine_frame_ = code.offset;
      slot += used;
    }
    return slot == header_.code_count;
  }

  // Saved registers lie relative to Rsp as it is after the prologue. Once the frame register is set, that Rsp is
  // computed from the frame register, since the body may move Rsp (alloca).
  std::uint64_t frame_base(std::uint32_t executed, const Registers& registers) const noexcept {
    if (header_.frame_register() == Register::rax) return registers.rsp();
    if (executed < header_.prologue_bytes) {
      for (unsigned slot = 0; slot < header_.code_count; slot += slots(code_at(slot))) {
        const Code code = code_at(slot);
        if (code.op() == Op::set_fpreg && code.offset > executed) return registers.rsp();
      }
    }
    return registers[header_.frame_register()] - header_.frame_offset();
  }

  UnwoundPrologue undo(const MemoryReader& stack, Code code, unsigned slot, std::uint64_t frame,
                       Registers& registers) const noexcept {
    const auto load = [&](std::uint64_t address, std::uint64_t& into) {
      return stack.read(address, &into, sizeof into);
    };
    std::uint64_t& rsp = registers[Register::rsp];
    switch (code.op()) {
      case Op::push_nonvol:
        if (!load(rsp, registers[code.reg()])) return {StepFault::unreadable_stack};
        rsp += 8;
        return {};
      case Op::alloc_large:
        rsp += code.info() == 0 ? operand16(slot) * 8 : operand32(slot);
        return {};
      case Op::alloc_small: rsp += code.info() * 8u + 8; return {};
      case Op::set_fpreg: rsp = registers[header_.frame_register()] - header_.frame_offset(); return {};
      case Op::save_nonvol:
      case Op::save_nonvol_far: {
        const std::uint64_t where =
            code.op() == Op::save_nonvol ? operand16(slot) * 8 : operand32(slot);
        if (!load(frame + where, registers[code.reg()])) return {StepFault::unreadable_stack};
        return {};
      }
      case Op::push_machframe: {
        // The processor pushed Rip, Cs, RFlags, Rsp, Ss; an error code (info 1) is on top of them.
        const std::uint64_t trap = rsp + (code.info() != 0 ? 8 : 0);
        std::uint64_t caller_rsp = 0;
        if (!load(trap, registers.rip) || !load(trap + 24, caller_rsp)) {
          return {StepFault::unreadable_stack};
        }
        rsp = caller_rsp;
        return {StepFault::none, true};
      }
      case Op::epilog:       // the places of epilogues: nothing to undo
      case Op::spare:        // never emitted
      case Op::save_xmm128:  // no frame address depends on an XMM register
      case Op::save_xmm128_far: return {};
    }
    return {StepFault::bad_unwind};
  }

  Header header_;
  unsigned machine_frame_;  // the offset of its code; kNone if there is none
  std::array<std::byte, kMaxSlots * kSlotBytes + sizeof(FunctionEntry)> bytes_;  // behind the header
};

// Reads the unwind info of an entry and of each entry to which it is chained, and calls visit(info, its entry, how much
// of its prologue was executed), until `visit` returns false.
template <class Visit>
StepFault follow_chain(const UnwindMemory& memory, const FunctionEntry& entry, std::uint32_t offset,
                       Visit visit) noexcept {
  // A chained info's prologue is always complete: the function was entered through it.
  constexpr std::uint32_t kComplete = 0xFFFF'FFFF;
  FunctionEntry current = entry;
  Info info;
  for (int link = 0; link < kMaxChain; ++link) {
    const StepFault fault = info.read(memory, current.unwind);
    if (fault != StepFault::none) return fault;
    if (!visit(info, current, link == 0 ? offset : kComplete) || !info.chained()) {
      return StepFault::none;
    }
    current = info.next();
  }
  return StepFault::bad_unwind;
}

}  // namespace

UnwindCheck check_unwind(const UnwindMemory& memory, const FunctionEntry& entry,
                         std::uint32_t offset) noexcept {
  UnwindCheck result;
  result.fault = follow_chain(
      memory, entry, offset, [&](const Info& info, const FunctionEntry& part, std::uint32_t executed) {
        result.function_begin = part.begin;
        result.machine_frame = result.machine_frame || info.has_machine_frame(executed);
        return true;
      });
  return result;
}

UnwindSummary summarise_unwind(const UnwindMemory& memory, const FunctionEntry& entry) noexcept {
  const auto header = memory.code.read_value<Header>(memory.image_base + entry.unwind);
  if (!header) return {StepFault::unreadable_unwind};
  if (const StepFault fault = check_version(*header); fault != StepFault::none) return {fault};
  const bool enters_with_frame =
      header->chained() || (header->prologue_bytes == 0 && header->code_count != 0);
  return {StepFault::none, header->frame_register(), !enters_with_frame};
}

UnwoundPrologue unwind_prologue(const UnwindMemory& memory, const FunctionEntry& entry,
                                std::uint32_t offset, Registers& registers) noexcept {
  UnwoundPrologue done;
  const StepFault fault = follow_chain(
      memory, entry, offset, [&](const Info& info, const FunctionEntry&, std::uint32_t executed) {
        done = info.run(memory.stack, executed, registers);
        return done.fault == StepFault::none && !done.machine_frame;
      });
  if (fault != StepFault::none) done.fault = fault;
  return done;
}

}  // namespace mixwalk
