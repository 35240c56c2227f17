#pragma once

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Gives the threads of a snapshot whose managed frames have names the exceptions that they handle (Thread::handles),
// except that of the snapshot's crash. Adds nothing if the memory or the runtime's data do not have them. Nothing that
// is read is trusted. Not frozen-safe.
//
// A live process has run since its threads were captured. So only exceptions that two looks find count, and only if the
// thread's stack shows the runtime's code that handles them, at their place. A thread that meanwhile handles another
// exception at the very same place is shown with that one.
void add_handled_exceptions(Snapshot& snapshot, Target& target, ClrQuestions& clr);

}  // namespace mixwalk
