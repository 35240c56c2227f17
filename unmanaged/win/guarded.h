#pragma once

#include <cstddef>
#include <cstdint>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Guards against faults, like __try and __except, which this compiler lacks. A guard is a frame handler
// (guarded_amd64.S): the system calls it last, after the program's vectored handlers and the handlers of every frame
// between the fault and the guard. So a callback of the program that handles its own faults runs to its end. Nothing is
// registered: any number of threads may use guards, guards may be nested, and nothing is left behind when the DLL is
// freed.
//
// The program's vectored handlers see every fault, and an access to a guard page removes its guard. So memory of the
// program is read by PlainMemory (plain_memory.h), which avoids faults; a guard is for memory that changes between
// PlainMemory's question and its copy.

// Copies this process's own memory. Returns false if a part of the memory is not readable (part of `to` may then have
// been written). Frozen-safe as long as nothing faults: the dispatch of a fault takes the lock of the vectored handlers
// and looks functions up, and the frozen thread may hold both locks until the supervisor resumes it. So during a freeze
// this function is used only for memory that should be readable. Any number of threads may call it.
bool guarded_copy(void* to, std::uint64_t from, std::size_t bytes) noexcept;

// Calls function(argument). Returns false if the function faulted on this thread and nothing in between handled the
// fault. The frames of the call are unwound: termination handlers run (__finally), destructors of this compiler's C++
// do not, so the function itself may hold no lock and own nothing. Frozen-safe under the same condition as
// guarded_copy.
bool guarded_call(void (*function)(void*), void* argument) noexcept;

// Like guarded_call, for a function that calls RtlLookupFunctionEntry. A fault in the look-up is repaired as long as
// that is possible, so that the look-up runs to its end. Not frozen-safe.
//
// Folklore: ntdll holds the lock of the function tables while it reads a table that a program has registered, and the
// lock is never released when the read faults. Situation: a program frees a table's memory without
// RtlDeleteFunctionTable, and runs other code in its range. Real case: the program hung for good when it next
// registered code. Remedy: memory that ntdll cannot read counts as zeros, in which no function is found. A callback
// that is no longer loaded, or that faults, counts as having found no function: its frames are unwound, and its
// termination handlers run. Test: `hunt.exe stale-table`.
//
// Folklore: with hardware shadow stacks (CET, which the hosts of .NET 9 and later ask for), Windows ends a process
// whose exception handler continues at an instruction that is neither on the shadow stack nor listed in its image, and
// the shadow stack does not follow a return that a handler makes. Real cases, of other libraries: dotnet/runtime issues
// 107651 and 111592, dotnet/wpf issue 10305. Remedy: in a thread with a shadow stack nothing is repaired that needs
// another instruction; such a look-up has ended. Test: guarded_test, and real_windows_test (ShadowStacks.*) on Windows.
enum class LookUp {
  done,
  repaired,  // ran to its end, over at least one fault
  ended,     // ended by a fault; a lock of the system may never be released
};
// Whether this thread has a hardware shadow stack. Frozen-safe.
bool has_shadow_stack() noexcept;
LookUp guarded_look_up(void (*function)(void*), void* argument, bool shadow_stack = has_shadow_stack()) noexcept;

// Reads this process's own memory by guarded_copy. It is meant for memory that should not fault, such as images of a
// recent list that are not closed (ModuleSpan::closed). Frozen-safe under the same condition as guarded_copy.
class GuardedReader final : public MemoryReader {
 public:
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    return guarded_copy(into, address, bytes);
  }
};

}  // namespace mixwalk
