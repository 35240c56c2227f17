#pragma once

#include "unmanaged/step/module_view.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/step/unwind_info.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// Makes one step by a RUNTIME_FUNCTION that covers the frame, wherever the entry was found: in an image's .pdata, or
// before code that a runtime has compiled. `memory.image_base` is the base of the entry's RVAs. `module` is the image
// that contains the function, or null for code outside the images. Frozen-safe; the results are those of UnwindStep.
StepResult step_by_entry(const UnwindMemory& memory, const ModuleSpan* module, const FunctionEntry& entry,
                         Cursor& frame) noexcept;

}  // namespace mixwalk
