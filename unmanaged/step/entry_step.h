#pragma once

#include "unmanaged/step/module_view.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/step/unwind_info.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// One step by a RUNTIME_FUNCTION that covers the frame, whoever found it: in an image's .pdata, or before
// code that a runtime has compiled. `memory.image_base`: what the entry's RVAs count from. `module`: the image
// that holds the function; null: code outside the images. Frozen-safe; answers as UnwindStep does.
StepResult step_by_entry(const UnwindMemory& memory, const ModuleSpan* module, const FunctionEntry& entry,
                         Cursor& frame) noexcept;

}  // namespace mixwalk
