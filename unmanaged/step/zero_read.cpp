#include "unmanaged/step/zero_read.h"

#include <bit>
#include <optional>

#include "unmanaged/step/instructions.h"

namespace mixwalk {
namespace {

// The bits of EFLAGS that arithmetic sets.
constexpr std::uint32_t kCarry = 1u << 0, kParity = 1u << 2, kAdjust = 1u << 4, kZero = 1u << 6,
                        kSign = 1u << 7, kOverflow = 1u << 11;
constexpr std::uint32_t kArithmetic = kCarry | kParity | kAdjust | kZero | kSign | kOverflow;

struct Operand {
  std::uint64_t mask;  // as many bits as the operand has
  std::uint64_t sign;  // its highest bit
};
constexpr Operand operand_of(unsigned bytes) noexcept {
  const std::uint64_t sign = std::uint64_t{1} << (bytes * 8 - 1);
  return {sign | (sign - 1), sign};
}

std::uint32_t flags_of(std::uint64_t result, Operand size) noexcept {
  std::uint32_t flags = 0;
  if ((result & size.mask) == 0) flags |= kZero;
  if ((result & size.sign) != 0) flags |= kSign;
  if (std::popcount(static_cast<std::uint8_t>(result)) % 2 == 0) flags |= kParity;
  return flags;
}

std::uint32_t flags_of_difference(std::uint64_t from, std::uint64_t taken, Operand size) noexcept {
  from &= size.mask;
  taken &= size.mask;
  const std::uint64_t result = (from - taken) & size.mask;
  std::uint32_t flags = flags_of(result, size);
  if (from < taken) flags |= kCarry;
  if (((from ^ taken ^ result) & 0x10) != 0) flags |= kAdjust;
  if (((from ^ taken) & (from ^ result) & size.sign) != 0) flags |= kOverflow;
  return flags;
}

// The bytes behind an opcode: which register they name, and how long their address is.
struct ModRm {
  unsigned reg = 0;
  unsigned bytes = 0;
};
std::optional<ModRm> memory_operand(const Instructions& code, unsigned at) noexcept {
  const auto byte = code.peek(at);
  if (!byte || *byte >= 0xC0) return std::nullopt;  // a register instead of memory
  const unsigned mod = *byte >> 6, rm = *byte & 7u;
  ModRm found{(*byte >> 3) & 7u, 1};
  unsigned base = rm;
  if (rm == 4) {
    const auto sib = code.peek(at + 1);
    if (!sib) return std::nullopt;
    base = *sib & 7u;
    ++found.bytes;
  }
  if (mod == 1) found.bytes += 1;
  if (mod == 2 || (mod == 0 && base == 5)) found.bytes += 4;
  return found;
}

}  // namespace

bool read_as_zero(const MemoryReader& code, Registers& registers, std::uint32_t& eflags) noexcept {
  const Instructions instruction(code, registers.rip);
  unsigned at = 0;
  const auto first = instruction.peek();
  const unsigned rex = first && (*first & 0xF0) == 0x40 ? *first : 0;
  if (rex != 0) ++at;
  const auto opcode = instruction.peek(at++);
  if (!opcode) return false;
  const bool two_bytes = *opcode == 0x0F;
  const auto second = two_bytes ? instruction.peek(at++) : opcode;
  const auto operand = memory_operand(instruction, at);
  if (!second || !operand) return false;
  const Operand size = operand_of((rex & 8) != 0 ? 8 : 4);
  std::uint64_t& reg = registers.general[operand->reg | (rex & 4) << 1];
  unsigned bytes = at + operand->bytes;

  std::optional<std::uint64_t> loaded;
  std::optional<std::uint32_t> flags;
  // cmp [memory], number shares its opcode with seven other instructions; the register field distinguishes them.
  const auto compare_with = [&](auto number, Operand width) {
    if (operand->reg != 7 || !number) return false;
    flags = flags_of_difference(0, static_cast<std::uint64_t>(std::int64_t{*number}), width);
    bytes += sizeof *number;
    return true;
  };
  if (two_bytes) {
    const bool extends = *second == 0xB6 || *second == 0xB7 || *second == 0xBE || *second == 0xBF;
    if (!extends) return false;
    loaded = 0;
  } else {
    switch (*opcode) {
      case 0x8B:                                            // mov reg, [memory]
      case 0x63: loaded = 0; break;                         // movsxd reg, [memory]
      case 0x03:                                            // add reg, [memory]
      case 0x0B:                                            // or
      case 0x33: loaded = reg & size.mask, flags = flags_of(*loaded, size); break;  // xor
      case 0x23: loaded = 0, flags = flags_of(0, size); break;  // and
      case 0x2B: loaded = reg & size.mask; [[fallthrough]];     // sub
      case 0x3B: flags = flags_of_difference(reg, 0, size); break;  // cmp reg, [memory]
      case 0x39: flags = flags_of_difference(0, reg, size); break;  // cmp [memory], reg
      case 0x84:
      case 0x85: flags = flags_of(0, size); break;  // test [memory], reg
      case 0x80: if (!compare_with(instruction.value<std::int8_t>(bytes), operand_of(1))) return false; break;
      case 0x81: if (!compare_with(instruction.value<std::int32_t>(bytes), size)) return false; break;
      case 0x83: if (!compare_with(instruction.value<std::int8_t>(bytes), size)) return false; break;
      case 0xF6:
      case 0xF7:
        if (operand->reg > 1) return false;
        flags = flags_of(0, size);
        bytes += *opcode == 0xF6 ? 1 : 4;
        break;
      default: return false;
    }
  }
  if (loaded) reg = *loaded;
  if (flags) eflags = (eflags & ~kArithmetic) | *flags;
  registers.rip += bytes;
  return true;
}

}  // namespace mixwalk
