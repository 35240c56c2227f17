#pragma once

#include "walker/hang/frame_names.h"
#include "walker/hang/wait.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// What a thread of the dump waits for, by its frames and wait_rules(). Any stack may be given: frames and names may be
// missing. Looks at kMaxWaitFrames frames from the leaf. Pure.
Wait wait_of(const FrameNames& names, const Thread& thread);

inline constexpr std::size_t kMaxWaitFrames = 256;

// A worker of the runtime's thread pool, whether it has work or not.
bool is_pool_worker(const Thread& thread);
// The thread that runs finalizers.
bool is_finalizer(const Thread& thread);

}  // namespace mixwalk
