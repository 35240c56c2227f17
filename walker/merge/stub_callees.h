#pragma once

#include <span>

#include "unmanaged/step/stack_copy.h"
#include "walker/merge/runtime_call.h"
#include "walker/model/call_agreement.h"
#include "walker/model/stack.h"

namespace mixwalk {

// For each stub that called native code, notes in StackFrame::callee the method for which the stub made the call.
// `copy`: the stack that the frames are on. Not frozen-safe; neither allocates nor locks.
//
// A stub that calls native code keeps an InlinedCallFrame in its own frame, for the runtime's stack walker. Two
// neighbouring words of the InlinedCallFrame are an Rsp in that frame and the return address of the call. The word
// before them is the runtime's description of the method (its MethodDesc, which is the FunctionID). (Source: .NET 8 to
// 10, class InlinedCallFrame in the runtime's frames.h.) This function cannot tell whether the word really is a
// MethodDesc, so the word must not be passed to the runtime.
void note_callees(Stack& stack, const StackCopy& copy) noexcept;

// The same for frames whose calls the runtime has noted itself, leaf first. Returns how far the stack and these notes
// agree.
CallAgreement note_callees(Stack& stack, std::span<const RuntimeCall> calls);

}  // namespace mixwalk
