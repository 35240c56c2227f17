#pragma once

#include <cstdint>

#include "unmanaged/step/pdata.h"
#include "unmanaged/step/registers.h"
#include "unmanaged/step/unwind_info.h"

namespace mixwalk {

enum class EpilogueResult : std::uint8_t {
  not_in_epilogue,  // registers untouched
  unwound,          // Rip and Rsp are the caller's
  unreadable_stack,
};

// Executes the rest of an epilogue if the frame's instruction lies in one. The ABI restricts epilogues to `add rsp,
// imm` or `lea rsp, [frame + disp]`, pops of nonvolatile registers, and a return or a jump out of the function, so that
// an unwinder can recognise them by their code. The UWOP_EPILOG codes of version 2 describe the same instructions, so
// they are not read. `module` is the image that contains the function, or null for code outside the images, where a
// function has one part. Frozen-safe.
EpilogueResult unwind_epilogue(const UnwindMemory& memory, const ModuleSpan* module,
                               const FunctionEntry& entry, Register frame_register,
                               Registers& registers) noexcept;

}  // namespace mixwalk
