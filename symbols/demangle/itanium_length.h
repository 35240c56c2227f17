#pragma once

#include <cstddef>
#include <string_view>

namespace mixwalk {

// An upper estimate of the length of a name after demangling by the C++ runtime. A name of 300 characters can stand for
// one of gigabytes: each substitution repeats earlier text ("PS_", "IS0_S0_E"), and the runtime's function has no
// limit. SIZE_MAX: the length cannot be estimated, so the runtime must not be asked. Pure; not frozen-safe. (Itanium
// C++ ABI, "External Names (a.k.a. Mangling)".)
std::size_t itanium_length(std::string_view mangled);

}  // namespace mixwalk
