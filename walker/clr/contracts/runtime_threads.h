#pragma once

#include <functional>
#include <span>
#include <vector>

#include "walker/clr/clr_questions.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// A thread's room on the managed heap for future objects. Both are 0 if it has none.
struct AllocationRoom {
  std::uint64_t begin = 0, limit = 0;
};

// The threads that the runtime knows. The list is as long as the runtime says, if its memory can be read so far. Not
// frozen-safe.
//
// Source: docs/design/datacontracts/Thread.md of the runtime, public.
std::vector<ClrThread> runtime_threads(const RuntimeReader& reader);

// The exceptions that these threads handle, only of threads that handle any. A list that never ends is cut.
//
// Source: docs/design/datacontracts/Exception.md of the runtime, public.
std::vector<ClrThreadExceptions> runtime_exceptions(const RuntimeReader& reader, std::span<const ClrThread> threads);

// The room on the heap of one of these threads.
AllocationRoom allocation_room(const RuntimeReader& reader, std::uint64_t thread);

}  // namespace mixwalk
