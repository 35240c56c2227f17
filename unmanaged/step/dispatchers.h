#pragma once

#include <cstdint>
#include <optional>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/registers.h"
#include "unmanaged/step/stack_copy.h"

namespace mixwalk {

// The addresses of ntdll's functions at which the system enters a thread's user code by itself, and not by a call; 0
// for one that is not known. On Windows their unwind data has a machine frame, so that it leads to the code that was
// interrupted; so it does under Wine 10, and for none of them under Wine 8.
struct Dispatchers {
  std::uint64_t exception = 0;  // KiUserExceptionDispatcher
  std::uint64_t apc = 0;        // KiUserApcDispatcher
  std::uint64_t callback = 0;   // KiUserCallbackDispatcher

  // Whether the caller of the function that begins there is an interrupted instruction, which need not follow a call.
  //
  // Folklore: Wine 8's unwind data presents the interrupted code as the caller of KiUserExceptionDispatcher, so its Rip
  // looks like a return address; a Rip of zero (a call through a null pointer) would be the thread's root. Test:
  // lost_frames_test, null_call. It does the same for KiUserApcDispatcher. A walk ended there, or guessed the caller,
  // since a system call's stub has no unwind data and calls nothing. Test: lost_frames_test, apc.
  bool interrupts(std::uint64_t function) const noexcept {
    return function != 0 && (function == exception || function == apc);
  }
};

// Returns the registers at the system call in which the system has called KiUserCallbackDispatcher, if unwinding has
// led from that function to Wine 8's mark in place of a return address. `caller` has the registers that it led to. Only
// Rip and Rsp of the result are those of the system call. Returns nothing on Windows. Frozen-safe if `code` is.
//
// Folklore: Wine 8 keeps the Rip of the system call on another stack. It puts the callback's data right below the Rsp
// of the system call, aligned to 16 bytes, then five words below the data, and enters KiUserCallbackDispatcher with Rsp
// at the lowest of these, the mark. The function stores its arguments there: the callback's number, the address and the
// size of the data. The word at the Rsp of the system call is the return address of the call of its stub. Real case:
// each window procedure that win32u.dll calls, as at the creation of a window, and probably the 38 samples of a COM
// program that ended at a dispatcher. Remedy: the stub is found by that call. Test: dispatchers_test, lost_frames_test.
std::optional<Registers> callback_caller(const StackCopy& stack, const MemoryReader& code,
                                         const Registers& caller) noexcept;

}  // namespace mixwalk
