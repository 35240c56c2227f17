#pragma once

#include "unmanaged/step/memory_reader.h"
#include "walker/clr/clr_questions.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Adds to a snapshot whose crash has to do with a managed exception the exception that the crashed thread threw last,
// and its inner exceptions, each with its type, its message, its HRESULT and its own stack trace; for
// Environment.FailFast also the message that the program gave. Adds nothing if the memory or the runtime's data do not
// have them, and for .NET Framework. Nothing that is read is trusted. Not frozen-safe.
void add_managed_exceptions(Snapshot& snapshot, const MemoryReader& memory, ClrQuestions& clr);

}  // namespace mixwalk
