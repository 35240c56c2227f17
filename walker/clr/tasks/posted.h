#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "walker/clr/heap_walk.h"
#include "walker/clr/tasks/managed_objects.h"

namespace mixwalk {

// The contexts whose objects lead to a delegate: the delegate was posted to the context, whose queue still has it. For
// each delegate of `wanted` that is found, its context (the first one of `contexts` that leads to it).
//
// How a context keeps its queue is its own matter, so every reference is followed: from the context, breadth first, to
// a limited number of objects, but not through threads, other contexts and async methods. That is a proof as long as
// the queue is an object of the context, as in Windows Forms, WPF, and contexts that have a collection. Ends at `end`.
// Not frozen-safe.
//
// `beside`: objects that .NET itself posts, with a delegate of its own beside them: the method at an await of
// Task.Yield(), or of an IValueTaskSource (by the object of its task), or that source. One that is found is in the
// result as well. Something else may lead to such an object (a list of tasks), so it counts only beside such a
// delegate.
std::unordered_map<std::uint64_t, std::uint64_t> posted_to(ManagedObjects& objects,
                                                           const std::vector<std::uint64_t>& contexts,
                                                           const std::unordered_set<std::uint64_t>& wanted,
                                                           const std::unordered_set<std::uint64_t>& beside,
                                                           HeapDeadline end);

// The SynchronizationContexts that threads have set as their own. `threads`: their System.Threading.Threads.
std::vector<std::uint64_t> contexts_of_threads(ManagedObjects& objects, const std::vector<std::uint64_t>& threads);

}  // namespace mixwalk
