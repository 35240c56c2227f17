#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "walker/outside/clr_questions.h"

namespace mixwalk {

// Names of methods as the runtime's debugging library (ISOSDacInterface::GetMethodDescName) writes them:
//   Ns.List`1[[System.Int32, System.Private.CoreLib]].Add(Int32, System.Span`1<Byte>, Boolean ByRef)
// Pure functions. The library leaves two things out: the outer types of a parameter's nested type, and which of its
// arguments a nested generic type has from its outer types. So where metadata is available, only the arguments are
// taken from the name.

// What the generic parameters of the method's type and of the method stand for, in the form of ClrMetadataSource:
// "System.Collections.Generic.List<System.Int32>".
struct DacArguments {
  std::vector<std::string> of_type, of_method;

  bool operator==(const DacArguments&) const = default;
};

// For a name that begins with a type and a method, both in the form of metadata. Returns nothing if it does not.
std::optional<DacArguments> dac_arguments(std::string_view name, std::string_view type, std::string_view method);

// The whole name in the form of ClrMetadataSource, as far as the name itself tells. `dynamic`: the method has no
// metadata (a stub, or a method that the program made): only the bare name is returned. Returns an empty text if the
// text is not such a name.
ClrMethod method_of_dac_name(std::string_view name, bool dynamic);

// A type's name (from ISOSDacInterface::GetObjectClassName, which writes arguments in the same way) in the form that
// people read: "Ns.List<System.Int32>". A name that cannot be read as such is returned unchanged.
std::string type_of_dac_name(std::string_view name);

}  // namespace mixwalk
