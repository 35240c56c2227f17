#pragma once

#include <string_view>

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

// The end of a static constructor's name: "Orders.Settings..cctor".
inline constexpr std::string_view kStaticConstructor = "..cctor";
// The innermost static constructor that the thread runs, or null if it runs none.
const Frame* running_constructor(const Thread& thread);
// Whether the runtime itself waits for the thread: its leaf run has only frames of the runtime and of the system, and a
// method has called it without a stub.
bool waits_in_runtime(const FrameNames& names, const Thread& thread);

}  // namespace mixwalk
