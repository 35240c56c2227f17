#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// Demangle Rust's names. The result is empty if the text is not such a name. Not frozen-safe.

// The v0 form, which begins with "_R" (RFC 2603). Throws TooMuchWork (limited_output.h).
std::string demangle_rust(std::string_view name);

// The older form, which looks like a name of C++: "_ZN", the parts of the path with their lengths, and a hash of 16
// digits: "_ZN7mycrate5queue4push17h0123456789abcdefE" is mycrate::queue::push. (rustc's "legacy" symbol mangling.)
// Pure.
std::string demangle_legacy_rust(std::string_view name);

}  // namespace mixwalk
