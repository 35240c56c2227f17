#pragma once

#include <span>

#include "unmanaged/step/stack_copy.h"
#include "walker/merge/runtime_call.h"
#include "walker/model/call_agreement.h"
#include "walker/model/stack.h"

namespace mixwalk {

// For each frame that called native code by a P/Invoke or a COM call, notes in StackFrame::callee the method for which
// it made the call. `copy`: the stack that the frames are on. `code`: where the code of methods is read. Not
// frozen-safe; allocates and locks only as `code` does.
//
// A stub that calls native code keeps an InlinedCallFrame in its own frame, for the runtime's stack walker. Two
// neighbouring words of the InlinedCallFrame are an Rsp in that frame and the return address of the call. The word
// before them is the runtime's description of the method (its MethodDesc, which is the FunctionID). (Source: .NET 8 to
// 10, class InlinedCallFrame in the runtime's frames.h.) This function cannot tell whether the word really is a
// MethodDesc, so the word must not be passed to the runtime.
//
// If the JIT has inlined the stub, the managed method keeps the InlinedCallFrame, one for all its calls. In .NET 8, a
// word lies between the method and the Rsp.
//
// Folklore: a call through a function pointer does not set the method's description, and leaves the one of an earlier
// P/Invoke of the method. Real case: hangs.exe --way inlined, the thread "by a pointer". Remedy: the method counts only
// if the code that stores the return address of this very call has stored the method right before. (Test:
// InlinedCallees.)
void note_callees(Stack& stack, const StackCopy& copy, const MemoryReader& code) noexcept;

// The same for stubs whose calls the runtime has noted itself, leaf first. Returns how far the stack and these notes
// agree.
CallAgreement note_callees(Stack& stack, std::span<const RuntimeCall> calls);

// To be called when managed frames that call a P/Invoke have its name in Frame::target: puts the inlined stub before
// each of them, and the name into the stub.
void show_inlined_stubs(Stack& stack);

}  // namespace mixwalk
