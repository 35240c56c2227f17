#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "walker/clr/clr_questions.h"

namespace mixwalk {

// Names of methods as the runtime's debugging library (ISOSDacInterface::GetMethodDescName) writes them:
//   Ns.List`1[[System.Int32, System.Private.CoreLib]].Add(Int32, System.Span`1<Byte>, Boolean ByRef)
// Pure functions. The library leaves two things out: the outer types of a parameter's nested type, and which of its
// arguments a nested generic type has from its outer types. So if metadata is available, only the arguments are taken
// from the name.

// The types that replace the generic parameters of the method's type and of the method, in the form of
// ClrMetadataSource: "System.Collections.Generic.List<System.Int32>".
struct DacArguments {
  std::vector<std::string> of_type, of_method;

  bool operator==(const DacArguments&) const = default;
};

// `name` must begin with the type and the method, both in the form of metadata. Returns nothing if it does not.
std::optional<DacArguments> dac_arguments(std::string_view name, std::string_view type, std::string_view method);

// The whole name in the form of ClrMetadataSource, as far as it can be made from the name itself. `dynamic`: the method
// has no metadata, because it is a stub or a method that the program made; then only the bare name is returned. The
// result's name is empty if the text is not such a name.
ClrMethod method_of_dac_name(std::string_view name, bool dynamic);

// A type's name in the form for people: "Ns.List<System.Int32>". `name` comes from
// ISOSDacInterface::GetObjectClassName, which writes arguments in the same way. A name that cannot be parsed is
// returned unchanged.
std::string type_of_dac_name(std::string_view name);

// The name of a method that hot reload has added to a type (its name for people), if the changed metadata is not known:
// "Ns.Type.[method 0600000B, added by hot reload](?)".
std::string added_method_name(std::string_view type, std::uint32_t token);

}  // namespace mixwalk
