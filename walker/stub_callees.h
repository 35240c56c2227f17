#pragma once

#include "unmanaged/step/stack_copy.h"
#include "walker/model/stack.h"

namespace mixwalk {

// Notes in Frame::callee, for each stub that native code was called from, the method for which it was called.
// `copy`: the stack that the frames stand on. Not frozen-safe; neither allocates nor locks.
//
// A stub that calls out keeps an InlinedCallFrame in its own frame, for the runtime's stack walker. Two of its
// neighbouring words are an Rsp in that frame and the return address of the call. The word before them is the runtime's
// description of the method (its MethodDesc, which is the FunctionID). (.NET 8 to 10, class InlinedCallFrame in the
// runtime's frames.h.) Whether the word is one is not known here: it must not be passed to the runtime.
void note_callees(Stack& stack, const StackCopy& copy) noexcept;

}  // namespace mixwalk
