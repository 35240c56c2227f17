#pragma once

#include <vector>

#include "unmanaged/image/module_table.h"
#include "walker/target/target.h"

namespace mixwalk {

// The images of a target in the form that unwinding needs, in the order of target.modules(). An image whose headers
// cannot be read is marked as closed, and none of its frames is unwound. Not frozen-safe.
ModuleTable target_modules(const Target& target);

}  // namespace mixwalk
