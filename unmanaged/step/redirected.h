#pragma once

#include <cstdint>

#include "unmanaged/step/pdata.h"
#include "unmanaged/step/unwind_info.h"

namespace mixwalk {

// Whether a thread did not call the function in which it is at `ip`, but was redirected to it: then the caller that
// unwind data leads to is the instruction at which the thread was interrupted, which need not follow a call.
// Frozen-safe if the readers of `memory` are.
//
// Folklore: to stop a thread in managed code for a GC, the runtime suspends it, and sets its Rip to one of the routines
// RedirectedHandledJITCase…. Such a routine stores the interrupted Rip where a return address would be, and its unwind
// data does not say that the thread was interrupted. Real case: under Wine 10, stacks of hunt.exe expressions ended
// there, since no call precedes the address. (Under Wine 8 no thread was redirected.) The routines of .NET 8, 9 and 10
// are the same. Test: redirected_test.
bool is_redirected(const UnwindMemory& memory, const FunctionEntry& entry, std::uint64_t ip) noexcept;

}  // namespace mixwalk
