#pragma once

#include <string_view>

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Says which thread serves each of Snapshot::contexts (AsyncContext::thread). The snapshot's managed frames have names,
// and its tasks are known: an ended task with a context is in the context's own queue (posted.h). Nothing of the target
// is trusted. Not frozen-safe.
//
// A thread serves a context only if that is proven:
// - WindowsFormsSynchronizationContext and DispatcherSynchronizationContext name their thread.
// - For a context of the program's own, the thread has it as its current context and is in its loop: a method of the
//   context's type, other than those by which all threads use a context (Post, Send, ...). If an ended task is in the
//   context's own queue, it may also be a method of an object that the context refers to. No other thread may be in
//   such a method without a context of its own.
// - If no thread is in a loop, and an ended task is in the context's own queue: the only thread whose current context
//   it is, if no other thread has the context, or an object that it refers to, on its stack. That is a thread that
//   waits before its loop has begun.
// - For a TaskScheduler of the program's own: the only thread of the program's own on whose stack a method of its type
//   runs a task, with the scheduler on that stack, and no other one of the type.
// - For the schedulers of a ConcurrentExclusiveSchedulerPair, while tasks of the exclusive one run: the only thread
//   that runs tasks of this pair's exclusive one. Both schedulers wait for it, also if their queues are empty.
// In all other cases the thread remains 0.
void add_context_threads(Snapshot& snapshot, const Target& target, ClrQuestions& clr);

// Whether a managed frame of this name is a method of the type in which a context may run what is posted to it. `type`
// is without type arguments.
bool is_loop_of(std::string_view frame, std::string_view type);

}  // namespace mixwalk
