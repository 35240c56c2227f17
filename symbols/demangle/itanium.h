#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// Demangles a name of the Itanium C++ ABI ("External Names (a.k.a. Mangling)"), which begins with "_Z". The result is
// empty if the text is not such a name. Throws TooMuchWork (limited_output.h). Not frozen-safe.
std::string demangle_itanium(std::string_view name);

}  // namespace mixwalk
