#pragma once

#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Says which threads read under each ReaderWriterLockSlim of Snapshot::locks that no thread has for itself
// (Lock::sharers). A ReaderWriterLockSlim only counts its readers, but each thread has a list in a thread-static field:
// for each lock that it has entered, the lock's number and how often it has entered (ReaderWriterCount). A list that
// cannot be read only lacks in the result. Nothing of the target is trusted. Not frozen-safe.
//
// Threads that ask for the lock so that they may write later (EnterUpgradeableReadLock) wait for the one that has it
// so, and not for the other readers. They become the waiters of another lock with the same address, that this thread
// owns.
//
// Sources: ReaderWriterLockSlim.cs and the runtime's threadstatics.h of .NET 9 and 10, public. The runtime's Thread has
// the address of its ThreadLocalData, which has that of an array with an object for each type with thread-static
// references, and that of the Thread. The latter proves that the data is this thread's. .NET 8 keeps them elsewhere.
void add_readers(Snapshot& snapshot, Target& target, ClrQuestions& clr);

}  // namespace mixwalk
