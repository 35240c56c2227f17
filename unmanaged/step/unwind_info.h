#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/step/registers.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// The memory that unwinding one frame reads, and the image that contains the frame's code.
struct UnwindMemory {
  const MemoryReader& code;   // the image: unwind data and instructions
  const MemoryReader& stack;  // the thread's stack
  std::uint64_t image_base = 0;
};

struct UnwoundPrologue {
  StepFault fault = StepFault::none;
  bool machine_frame = false;  // a trap's frame was popped: Rip and Rsp are already the caller's
};

// Undoes what a function's prologue did, as its UNWIND_INFO describes it (versions 1 and 2, chained infos too), without
// popping the return address. `offset` is the distance in bytes from the function's start to the frame's instruction;
// codes of prologue instructions that are not yet executed are left out. Frozen-safe. (Windows x64 ABI, "x64 exception
// handling"; version 2 and UWOP_EPILOG from the CoreCLR sources.)
UnwoundPrologue unwind_prologue(const UnwindMemory& memory, const FunctionEntry& entry,
                                std::uint32_t offset, Registers& registers) noexcept;

// The result of checking unwind data as a whole, before it is followed from a frame at `offset`.
struct UnwindCheck {
  // Is none if the unwind data can be followed to its end, whatever the frame is: every link of its chain can be read,
  // has a known version and codes that fit, and the chain is no longer than any real one.
  StepFault fault = StepFault::none;
  // The RVA where the function begins that the entry is a part of, found at the end of the entry's chain.
  std::uint32_t function_begin = 0;
  // Unwinding pops a trap's frame, so the caller did not call this frame but was interrupted.
  bool machine_frame = false;
};
// Frozen-safe.
UnwindCheck check_unwind(const UnwindMemory& memory, const FunctionEntry& entry,
                         std::uint32_t offset) noexcept;

// The facts about an entry that an epilogue check needs.
struct UnwindSummary {
  StepFault fault = StepFault::none;
  Register frame_register = Register::rax;  // rax means that there is none
  // Calls go to the entry's start. If false, the entry is a further part of a function. The frame of this function
  // exists already when control reaches the part: a chained info (Microsoft's compiler), or codes that are all at
  // offset 0 (the .cold parts of gcc).
  bool callable = true;
};
UnwindSummary summarise_unwind(const UnwindMemory& memory, const FunctionEntry& entry) noexcept;

}  // namespace mixwalk
