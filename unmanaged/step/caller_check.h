#pragma once

#include <cstdint>

#include "unmanaged/step/leaf_step.h"
#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/stack_copy.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// The maximum length of code without unwind data outside the images: the runtime's thunks and barriers have some 100
// bytes.
inline constexpr std::uint64_t kMaxOutsideLeafBytes = 4096;

// A frame that unwind data led to, together with the frame from which the step was made.
struct FoundCaller {
  const Cursor& caller;
  const ModuleSpan* module = nullptr;  // the image of the caller; null if it is in no image
  const ModuleSpan* callee = nullptr;  // the image of the frame stepped from; null if it is in no image
  bool guessed = false;                // the frame stepped from was a guess
};

// Checks whether the frame that was found can be a caller: a root, code of an image, or code outside the images that
// stands directly behind a call. Frozen-safe if the readers of `leaf` are.
StepFault check_caller(const FoundCaller& found, const StackCopy& stack, LeafStep& leaf,
                       const MemoryReader& code) noexcept;

// Whether a word that is taken for a return address is the begin of one of the functions to which the runtime lets a
// thread return, to stop the thread there for a GC. Frozen-safe if `code` is.
//
// Folklore: for a GC, the runtime exchanges the return address of the method that a thread runs. Until the thread
// returns, only the runtime knows the real one (Thread::m_pvHJRetAddr), and no call leads to the new one:
// OnHijackTripThread of coreclr.dll, or, in a process with shadow stacks, RtlRaiseExceptionForReturnAddressHijack of
// ntdll.dll. (dotnet/runtime, pull request 55946.) Real case: stacks of hunt.exe expressions under Wine 10. Remedy: a
// gap with its own reason. If DoStackSnapshot knows the caller, there is no gap. Test: caller_check_test, merge_test.
bool is_return_trap(std::uint64_t return_address, const ModuleSpan& module, const MemoryReader& code) noexcept;

// Whether a frame without unwind data is at the first instruction of a function, as if the call stood before that
// function. Frozen-safe if `code` is.
//
// Folklore: a guess may lead to an exchanged return address (is_return_trap), and check_caller() does not see guesses.
// Real case: hunt.exe expressions under Wine 10, a stack whose frames up to the thread's first ones were left out by a
// guess. Remedy: a gap. Test: table_unwind_step_test.
bool returns_to_start(const Cursor& frame, const ModuleSpan& module, const MemoryReader& code) noexcept;

}  // namespace mixwalk
