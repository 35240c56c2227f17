#include "unmanaged/step/context_restore.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace mixwalk {
namespace {

// ClrRestoreNonvolatileContextWorker has 188 bytes; it was never longer.
constexpr std::uint32_t kMaxFunctionBytes = 256;
// The runtime's CONTEXT lies in the frame of one of its functions, not far below.
constexpr std::uint64_t kMaxDistance = 256 << 10;

// Offsets in a CONTEXT (winnt.h).
constexpr std::uint32_t kFlagsAt = 0x30, kGeneralAt = 0x78, kRbxAt = 0x90, kRspAt = 0x98;
constexpr std::uint32_t kControlAndInteger = 0x10'0003;

constexpr std::size_t kLoadBytes = 7;
constexpr std::size_t kNotThere = static_cast<std::size_t>(-1);

// Finds `mov loaded, [r10 + disp32]` and returns its offset in the code.
std::size_t find_load(std::span<const std::uint8_t> code, Register loaded, std::uint8_t disp) noexcept {
  const std::array<std::uint8_t, kLoadBytes> load = {
      0x49, 0x8B, static_cast<std::uint8_t>(0x82 | static_cast<unsigned>(loaded) << 3), disp, 0, 0, 0};
  const auto found = std::search(code.begin(), code.end(), load.begin(), load.end());
  return found == code.end() ? kNotThere : static_cast<std::size_t>(found - code.begin());
}

}  // namespace

std::optional<Registers> restored_registers(const UnwindMemory& memory, const FunctionEntry& entry,
                                            Register frame_register,
                                            const Registers& registers) noexcept {
  // Few functions have rbp as their frame register, so nearly all of the others are left here.
  if (frame_register != Register::rbp) return {};
  const std::uint64_t begin = memory.image_base + entry.begin;
  const std::uint64_t at = registers.rip - begin;
  const std::uint32_t bytes = entry.end - entry.begin;
  std::array<std::uint8_t, kMaxFunctionBytes> buffer;
  if (bytes > buffer.size() || at >= bytes || !memory.code.read(begin, buffer.data(), bytes)) return {};
  const std::span<const std::uint8_t> code(buffer.data(), bytes);
  const std::size_t first = find_load(code, Register::rbx, kRbxAt);
  if (first == kNotThere || at <= first) return {};
  const std::size_t last = find_load(code, Register::rsp, kRspAt);
  if (last == kNotThere || last < first || at > last + kLoadBytes) return {};
  const std::size_t jump = last + kLoadBytes;  // jmp rax
  if (bytes < jump + 2 || code[jump] != 0xFF || code[jump + 1] != 0xE0) return {};

  Registers restored = registers;
  if (at == jump) {
    restored.rip = registers[Register::rax];
    return restored;
  }
  const std::uint64_t context = registers[Register::r10];
  if (context - registers.rsp() > kMaxDistance) return {};
  const auto flags = memory.stack.read_value<std::uint32_t>(context + kFlagsAt);
  if (!flags || (*flags & kControlAndInteger) != kControlAndInteger) return {};
  // The registers are in winnt.h's order, which is that of Register; Rip follows them.
  std::array<std::uint64_t, kGeneralRegisters + 1> saved;
  if (!memory.stack.read(context + kGeneralAt, saved.data(), sizeof saved)) return {};
  std::copy_n(saved.begin(), kGeneralRegisters, restored.general.begin());
  restored.rip = saved.back();
  return restored;
}

}  // namespace mixwalk
