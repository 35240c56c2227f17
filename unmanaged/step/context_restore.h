#pragma once

#include <optional>

#include "unmanaged/step/pdata.h"
#include "unmanaged/step/registers.h"
#include "unmanaged/step/unwind_info.h"

namespace mixwalk {

// What a thread goes on with that stands in the middle of putting back the registers of a CONTEXT, one
// after the other: the registers of that CONTEXT. Nothing in any other code, and where the CONTEXT cannot
// be read. `registers`: of the thread, which stands at that instruction. Frozen-safe.
//
// Folklore: coreclr's ClrRestoreNonvolatileContextWorker has a frame register, and its unwind data does not
// say that it loads that register before it loads Rsp. From there on it is unwound to the caller of the
// method that goes on. Situation: a method catches an exception, or goes on in a version that was compiled
// while it ran (OSR). Real case: a thread throws and catches all the time; in 0.16 s of 40 s its
// stacks had no frame of the method that catches, and were called whole. Test: hunt.exe caught.
std::optional<Registers> restored_registers(const UnwindMemory& memory, const FunctionEntry& entry,
                                            const Registers& registers) noexcept;

}  // namespace mixwalk
