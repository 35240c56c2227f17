#pragma once

#include <windows.h>

#include "unmanaged/step/registers.h"
#include "unmanaged/win/context.h"

namespace mixwalk {

// The registers of a suspended thread, from the system.
struct ReadContext {
  bool done = false;  // false if the thread is ending; then nothing else is known
  Registers registers;
  // The system is just sending the thread an exception, so Rip may still be the old one beside a new Rsp.
  bool in_dispatch = false;

  // Passes it on, the registers only if they are known. Returns `done`.
  bool put(Registers& into, bool& is_in_dispatch) const noexcept {
    if (done) into = registers;
    is_in_dispatch = in_dispatch;
    return done;
  }
};
using GetContextFunction = BOOL(WINAPI*)(HANDLE, CONTEXT*);

// To be called only while the thread is suspended. Waits until the thread has really stopped. Frozen-safe.
//
// Folklore: while the system sends a thread an exception, the thread's old Rip is beside its new Rsp for a moment, and
// NtContinue does the like. (The runtime's sources, threadsuspend.cpp, "Race #2".) A walk from there leads to a caller
// that the thread does not have. Remedy: GetThreadContext is asked to say so, and the thread is looked at again a
// moment later. A thread that a debugger holds at an exception stays in that state, so the last look counts. Wine 8
// does not answer the question, Wine 10 does. Test: thread_context_test, capture_test.
inline ReadContext read_context(HANDLE thread, GetContextFunction get = &GetThreadContext) noexcept {
  CONTEXT context;
  context.ContextFlags = CONTEXT_CONTROL | CONTEXT_INTEGER | CONTEXT_EXCEPTION_REQUEST;
  if (!get(thread, &context)) return {};
  constexpr DWORD kInDispatch = CONTEXT_EXCEPTION_REPORTING | CONTEXT_EXCEPTION_ACTIVE;
  return {true, registers_of(context), (context.ContextFlags & kInDispatch) == kInDispatch};
}

}  // namespace mixwalk
