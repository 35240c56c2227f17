#pragma once

#include <cstdint>

#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// A call from managed code to native code that a thread is in, as the runtime has noted it for its own stack walker.
struct RuntimeCall {
  // The frame that made the call, at the address where it goes on. Of its registers, those are known that its own
  // unwind data need.
  Cursor caller;
  std::uint64_t function = 0;  // FunctionID of that frame: a method, or a stub
  // The method that was called (a MethodDesc), if the call is a P/Invoke; else 0. It may be another word, so it counts
  // only if the runtime knows it as such a method.
  std::uint64_t callee = 0;
};

}  // namespace mixwalk
