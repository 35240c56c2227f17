#pragma once

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Whether add_timeouts() might capture a thread.
bool has_timeouts(const Snapshot& snapshot);

// Says of the threads that wait for a lock, a task or another thread whether their wait has a limit
// (ThreadTraits::limited, unlimited), if their frames do not say it. `snapshot`: its managed frames have names, and its
// locks and tasks are known. Each such thread is captured before and after the objects on its stack are read, for a
// limited time. Not frozen-safe.
//
// The runtime waits for all that managed code waits for by WaitForMultipleObjectsEx, which calls
// NtWaitForMultipleObjects. The fifth argument of that system call is the address of the time limit, or null. The
// calling convention passes it on the stack, where the function of the system call leaves it (Microsoft Learn, "x64
// calling convention"; winternl.h). A wait without a time limit cannot be cancelled if no CancellationTokenSource is on
// the stack of the wait: Task.Wait, ManualResetEventSlim.Wait and SemaphoreSlim.Wait need their token again when the
// system's wait is over.
void add_timeouts(Snapshot& snapshot, Target& target, ClrQuestions& clr);

}  // namespace mixwalk
