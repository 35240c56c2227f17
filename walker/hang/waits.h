#pragma once

#include "walker/hang/frame_names.h"
#include "walker/hang/wait.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Returns the wait of a thread of the dump, by its frames and wait_rules(). Any stack may be given: frames and names
// may be missing. Only kMaxWaitFrames frames from the leaf on are read. Pure.
Wait wait_of(const FrameNames& names, const Thread& thread);

inline constexpr std::size_t kMaxWaitFrames = 256;

// Whether this is a worker of the runtime's thread pool, with or without work.
bool is_pool_worker(const Thread& thread);
// Whether the thread waits in a COM call that a certain other thread must answer. It is not known which thread that is.
bool calls_apartment(const Wait& wait);
// Whether this is the thread that runs finalizers.
bool is_finalizer(const Thread& thread);

}  // namespace mixwalk
