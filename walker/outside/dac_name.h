#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "walker/outside/clr_questions.h"

namespace mixwalk {

// Names of methods as the runtime's debugging library (ISOSDacInterface::GetMethodDescName) writes them:
//   Ns.List`1[[System.Int32, System.Private.CoreLib]].Add(Int32, System.Span`1<Byte>, Boolean ByRef)
// Pure functions. The library leaves two things out: the outer types of a parameter's nested type, and which
// arguments a nested generic type has of its outer ones. So where metadata is at hand only the arguments are
// taken from the name.

// What the generic parameters of the method's type and of the method stand for, as ClrMetadataSource writes them:
// "System.Collections.Generic.List<System.Int32>".
struct DacArguments {
  std::vector<std::string> of_type, of_method;

  bool operator==(const DacArguments&) const = default;
};

// Of a name that begins with a type and a method, both as metadata has them. Nothing: it does not.
std::optional<DacArguments> dac_arguments(std::string_view name, std::string_view type, std::string_view method);

// The whole name as ClrMetadataSource would write it, as far as the name itself tells. `dynamic`: the method has
// no metadata (a stub, or made by the program): the name alone stays. Empty: it cannot be read as such a name.
ClrMethod method_of_dac_name(std::string_view name, bool dynamic);

// A type's name (ISOSDacInterface::GetObjectClassName), which has its arguments in the same way, as people read it:
// "Ns.List<System.Int32>". What cannot be read so stays as it is.
std::string type_of_dac_name(std::string_view name);

}  // namespace mixwalk
