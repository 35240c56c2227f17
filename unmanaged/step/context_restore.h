#pragma once

#include <optional>

#include "unmanaged/step/pdata.h"
#include "unmanaged/step/registers.h"
#include "unmanaged/step/unwind_info.h"

namespace mixwalk {

// The registers of the CONTEXT that a thread is about to continue with, where it has loaded some of them
// already. Returns nothing for any other code, and where the CONTEXT cannot be read. `frame_register`: of the
// function, as summarise_unwind() tells. `registers`: of the thread, which stands at that instruction.
// Frozen-safe.
//
// Folklore: coreclr's ClrRestoreNonvolatileContextWorker has a frame register, and its unwind data does not
// say that it loads that register before it loads Rsp. From there on it is unwound to the caller of the
// method that goes on. Situation: a method catches an exception, or goes on in a version that was compiled
// while it ran (OSR). Real case: a thread throws and catches all the time; in 0.16 s of 40 s its
// stacks had no frame of the method that catches, and were called whole. Test: hunt.exe caught.
std::optional<Registers> restored_registers(const UnwindMemory& memory, const FunctionEntry& entry,
                                            Register frame_register,
                                            const Registers& registers) noexcept;

// Whether the step to those registers leads on: at the routine's last instruction, a jump, Rsp is loaded already
// and stays as it is.
inline bool goes_on(const Registers& from, const Registers& restored) noexcept {
  return restored.rsp() > from.rsp() || (restored.rsp() == from.rsp() && restored.rip != from.rip);
}

}  // namespace mixwalk
