#pragma once

#include "unmanaged/step/module_view.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/step/unwind_info.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// One step by a RUNTIME_FUNCTION that covers the frame, wherever it was found: in an image's .pdata, or before code
// that a runtime has compiled. `memory.image_base`: the base of the entry's RVAs. `module`: the image that contains the
// function; null: code outside the images. Frozen-safe; the results are those of UnwindStep.
StepResult step_by_entry(const UnwindMemory& memory, const ModuleSpan* module, const FunctionEntry& entry,
                         Cursor& frame) noexcept;

}  // namespace mixwalk
