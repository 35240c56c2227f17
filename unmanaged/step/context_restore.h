#pragma once

#include <optional>

#include "unmanaged/step/pdata.h"
#include "unmanaged/step/registers.h"
#include "unmanaged/step/unwind_info.h"

namespace mixwalk {

// Returns the registers of the CONTEXT with which a thread is about to continue, at a point where the thread has
// already loaded some of them. Returns nothing for any other code, and if the CONTEXT cannot be read. `frame_register`
// is that of the function, as summarise_unwind() returns it. `registers` are those of the thread at that instruction.
// Frozen-safe.
//
// Folklore: coreclr's ClrRestoreNonvolatileContextWorker has a frame register, and its unwind data does not say that it
// loads that register before it loads Rsp. From that load on, unwinding leads to the caller of the method that
// continues, and leaves that method out. Situation: a method catches an exception, or continues in a version that was
// compiled while it ran (OSR). Real case: a thread throws and catches all the time; in 0.16 s of 40 s its stacks had no
// frame of the method that catches, and were called whole. Test: hunt.exe caught.
std::optional<Registers> restored_registers(const UnwindMemory& memory, const FunctionEntry& entry,
                                            Register frame_register,
                                            const Registers& registers) noexcept;

// Whether the step to those registers makes progress. At the routine's last instruction, a jump, it does too, although
// Rsp is already loaded and does not change.
inline bool step_makes_progress(const Registers& from, const Registers& restored) noexcept {
  return restored.rsp() > from.rsp() || (restored.rsp() == from.rsp() && restored.rip != from.rip);
}

}  // namespace mixwalk
