#pragma once

#include <cstdint>

#include "walker/model/snapshot.h"

namespace mixwalk {

// Whether a wait may end without what it waits for: after a time, or by a cancellation.
enum class WaitLimit : std::uint8_t {
  none,     // it ends only with what it waits for
  unknown,  // the frames do not say it
  some,     // it is a try, which gives up
};

// The limit of a thread's wait, by what is proven about it (ThreadTraits::limited, unlimited), or else by the method of
// .NET that the program has called. Pure.
WaitLimit limit_of_wait(const Thread& thread);

// The same for a thread that waits for this lock. Pure.
WaitLimit limit_of_wait(const Thread& thread, const Lock& lock);

}  // namespace mixwalk
