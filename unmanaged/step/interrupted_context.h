#pragma once

#include <optional>

#include "unmanaged/step/registers.h"
#include "unmanaged/step/stack_copy.h"

namespace mixwalk {

// The registers of what an exception has interrupted, of a thread that stands at the first instruction of ntdll's
// KiUserExceptionDispatcher: the system has put a CONTEXT of user code at its Rsp. Nothing: no such CONTEXT is there, or
// its Rsp is not on this stack. `rsp`: of the thread. Frozen-safe.
//
// Folklore: Wine 8's unwind data of that function holds for later instructions only, and a thread that is suspended while
// an exception is under way mostly stands at the first one. Real case: 37 of 80 samples of a program that dereferences
// null had nothing below. Test: `hunt.exe null`, InterruptedByAnException….
std::optional<Registers> interrupted_context(const StackCopy& stack, std::uint64_t rsp) noexcept;

}  // namespace mixwalk
