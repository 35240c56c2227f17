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

// A copy of a CONTEXT, for RtlVirtualUnwind and RtlUnwindEx. It never says that it has an extended part. Frozen-safe.
//
// Folklore: in the CONTEXT of an exception, ContextFlags says on every processor with AVX that an extended part
// (CONTEXT_EX and the processor's state) lies behind it. A copy by value has foreign stack there. Windows since 10 20H1
// reads the extended part while it unwinds, and changes the shadow stack's pointer in it. Remedy: this type. Test:
// context_test. (A public decompilation of ntdll; not seen here, since Wine does not do this.)
struct ContextCopy : CONTEXT {
  explicit ContextCopy(const CONTEXT& context) noexcept : CONTEXT(context) {
    constexpr DWORD kExtendedPart = 0x40;  // CONTEXT_XSTATE without CONTEXT_AMD64
    ContextFlags &= ~kExtendedPart;
  }
};

static_assert(offsetof(CONTEXT, R15) - offsetof(CONTEXT, Rax) == 15 * sizeof(DWORD64));

}  // namespace mixwalk
