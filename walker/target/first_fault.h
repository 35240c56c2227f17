#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "unmanaged/minidump/minidump.h"
#include "unmanaged/step/stack_copy.h"

namespace mixwalk {

// Whether the code is that of a fault of the processor.
bool is_fault(std::uint32_t code) noexcept;

// Whether an exception has the code of a fault of the processor, but was not raised by one: a handler of the fault has
// raised it anew. `raise`: the address of kernelbase's RaiseException, or 0.
bool is_raised_anew(const MinidumpException& exception, std::uint64_t raise) noexcept;

// The fault that was raised anew: the system has put it on the thread's stack, with the registers, and its handlers run
// above it. `stack` is that of the thread, from the exception's Rsp on. `frames`: the Rsps of the thread's frames from
// the exception on, sorted, as far as they are known. Returns nothing if it is not there. Nothing that is read is
// trusted. Not frozen-safe.
//
// Folklore: when nothing handles a fault, the runtime of .NET 8 and later ends the program by RaiseFailFastException,
// with its own record (the fault's code, an address in coreclr.dll, no parameters) or with no registers, so that the
// dump has those of the call; or it raises the fault's record anew by RaiseException. Real case: crashes.exe, a write
// in native code below a P/Invoke: the dump said that coreclr.dll had crashed, and did not say what was touched.
// Remedy: the first fault is taken for the crash, as a debugger shows it. Test: first_fault_test, crash_files_test.
//
// Situation: a buffer of a frame lies where a fault was dispatched before, which a handler has handled, and its
// registers and its record are still there. Remedy: the dispatcher of a fault whose handlers run has a frame, which
// begins at the registers.
std::optional<MinidumpException> first_fault(const MinidumpException& exception, const StackCopy& stack,
                                             std::span<const std::uint64_t> frames);

}  // namespace mixwalk
