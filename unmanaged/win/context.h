#pragma once

#include <windows.h>

#include "unmanaged/step/registers.h"

namespace mixwalk {

// Convert registers from and to a CONTEXT. Frozen-safe. CONTEXT keeps Rax … R15 in UNWIND_CODE's order.
inline Registers registers_of(const CONTEXT& context) noexcept {
  Registers registers;
  const DWORD64* general = &context.Rax;
  for (std::size_t i = 0; i < kGeneralRegisters; ++i) registers.general[i] = general[i];
  registers.rip = context.Rip;
  return registers;
}

// Changes only the general registers and Rip.
inline void set_registers(CONTEXT& context, const Registers& registers) noexcept {
  DWORD64* general = &context.Rax;
  for (std::size_t i = 0; i < kGeneralRegisters; ++i) general[i] = registers.general[i];
  context.Rip = registers.rip;
}

static_assert(offsetof(CONTEXT, R15) - offsetof(CONTEXT, Rax) == 15 * sizeof(DWORD64));

}  // namespace mixwalk
