#pragma once

#include <cstddef>
#include <string_view>

namespace mixwalk {

// Returns an upper estimate of the length of a name after the C++ runtime has demangled it. A name of 300 characters
// can become gigabytes long, because each substitution repeats earlier text ("PS_", "IS0_S0_E"), and the runtime's
// function has no limit. Returns SIZE_MAX if the length cannot be estimated; the runtime must then not demangle the
// name. Pure; not frozen-safe. (Itanium C++ ABI, "External Names (a.k.a. Mangling)".)
std::size_t itanium_length(std::string_view mangled);

}  // namespace mixwalk
