#pragma once

#include "unmanaged/image/module_table.h"

namespace mixwalk {

// The images loaded in this process now. Not frozen-safe (it allocates), but it takes no loader
// lock: the loader's list is read as another process would read it, so a target that hangs in the
// loader can be looked at. An image that unloads meanwhile is left out. A FaultGuard must live.
ModuleTable read_live_modules();

}  // namespace mixwalk
