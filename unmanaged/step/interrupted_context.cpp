#include "unmanaged/step/interrupted_context.h"

namespace mixwalk {
namespace {

// Offsets in a CONTEXT (winnt.h).
constexpr std::uint64_t kFlagsAt = 0x30, kSegCsAt = 0x38, kGeneralAt = 0x78, kRipAt = 0xF8;
constexpr std::uint32_t kControlAndInteger = 0x10'0003;
constexpr std::uint16_t kUserCode = 0x33;

}  // namespace

std::optional<Registers> interrupted_context(const StackCopy& stack, std::uint64_t rsp) noexcept {
  const auto flags = stack.read_value<std::uint32_t>(rsp + kFlagsAt);
  const auto code = stack.read_value<std::uint16_t>(rsp + kSegCsAt);
  if (!flags || (*flags & kControlAndInteger) != kControlAndInteger || code != kUserCode) return std::nullopt;
  Registers registers;
  // In winnt.h's order, which is that of Register.
  for (std::size_t i = 0; i < registers.general.size(); ++i) {
    const auto word = stack.word(rsp + kGeneralAt + 8 * i);
    if (!word) return std::nullopt;
    registers.general[i] = *word;
  }
  const auto rip = stack.word(rsp + kRipAt);
  if (!rip || registers.rsp() < stack.begin() || registers.rsp() > stack.end()) return std::nullopt;
  registers.rip = *rip;
  return registers;
}

}  // namespace mixwalk
