#pragma once

#include <cstddef>
#include <string_view>

namespace mixwalk {

// An upper estimate of how long a name gets that the C++ runtime demangles. A name of 300 characters can
// stand for one of gigabytes: each substitution repeats what was there before ("PS_", "IS0_S0_E"), and the
// runtime's function knows no limit. SIZE_MAX: what it becomes cannot be told, so it must not be asked.
// Pure; not frozen-safe. (Itanium C++ ABI, "External Names (a.k.a. Mangling)".)
std::size_t itanium_length(std::string_view mangled);

}  // namespace mixwalk
