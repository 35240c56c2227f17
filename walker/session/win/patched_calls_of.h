#pragma once

#include <cstdint>
#include <vector>

#include "walker/base/failure.h"
#include "walker/session/patched_calls.h"

namespace mixwalk {

// Returns the patched calls of a live process, from its own memory, which is only read. Returns a failure if the
// process cannot be read. Not frozen-safe.
Outcome<std::vector<PatchedCall>> patched_calls_of(std::uint32_t process_id);

}  // namespace mixwalk
