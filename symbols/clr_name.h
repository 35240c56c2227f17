#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// Make names of managed methods as a person writes them. Pure functions over metadata. Not frozen-safe.

// Gives the names of the type tokens that occur in a signature.
class TypeNames {
 public:
  // `token` is a TypeDef or TypeRef (ECMA-335 II.22). Returns the full name as in metadata, with nested types joined by
  // '+' and arity suffixes kept ("System.Collections.Generic.List`1"). The result is empty if the type is unknown.
  virtual std::string type_name(std::uint32_t token) const = 0;

 protected:
  ~TypeNames() = default;
};

// The arguments for the generic parameters of the method's type and of the method, already formatted. A parameter
// without an argument is written as in IL: !0, !!0.
struct GenericArguments {
  std::span<const std::string> of_type;
  std::span<const std::string> of_method;
};

// "List`1" and {"System.String"} → "List<System.String>"; each component of a nested name takes as many arguments as
// its arity says ("Outer`1+Inner`1"). Without arguments, the arity is cut off.
std::string with_arguments(std::string_view metadata_name, std::span<const std::string> arguments);

// Formats the parameter list of a MethodDefSig or MethodRefSig (ECMA-335 II.23.2.1-2): "(System.Int32, System.String[],
// ref Foo.Bar)". Returns nothing if the blob is not such a signature, is cut off, or is nested more deeply than any
// compiler nests types.
std::optional<std::string> format_parameters(std::span<const std::byte> signature,
                                             const TypeNames& names,
                                             const GenericArguments& arguments);

}  // namespace mixwalk
