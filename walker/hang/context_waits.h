#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// The frame at which a wait of managed code begins if the thread's SynchronizationContext waits for it, because it has
// asked to (SetWaitNotificationRequired): the context's methods, and natives of the runtime, are between the system
// call and the method that waits. 0 if no context waits. `is_runtime`: whether a frame is native code of the runtime.
//
// Folklore: WPF's and Avalonia's contexts do so. Real case: lock() and .Result in a click handler of WPF counted as
// "waits for a window message" (dotnet/wpf, DispatcherSynchronizationContext.cs). Tests: windows_stacks_test, and
// hangs_test with a context.
std::uint32_t begin_of_wait(const std::vector<StackFrame>& frames,
                            const std::function<bool(const Frame&)>& is_runtime);

}  // namespace mixwalk
