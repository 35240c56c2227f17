#pragma once

#include <cstdint>
#include <string>

#include "walker/clr/tasks/managed_objects.h"

namespace mixwalk {

// The name of the method that a delegate calls, in the form of ClrMethod::name; empty if it is not known. Nothing of
// the target is trusted. Not frozen-safe.
std::string method_of_delegate(ManagedObjects& objects, std::uint64_t delegate);

// The object on which a delegate calls its method; 0 if there is none.
std::uint64_t target_of_delegate(ManagedObjects& objects, std::uint64_t delegate);

}  // namespace mixwalk
