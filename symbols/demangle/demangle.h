#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// Names as a programmer writes them, of what a compiler encodes. Pure; not frozen-safe. Any text may be
// given: what is no encoded name, or one that would become longer than kMaxDemangled, comes back as it is.
// Time and memory are bounded.

inline constexpr std::size_t kMaxDemangled = 1024 * 1024;  // characters

// The whole name, without the return type of MSVC's: "std::vector<int, std::allocator<int> >::push_back(int
// const&)" of _ZNSt6vectorIiSaIiEE9push_backERKi. Itanium names by the C++ runtime's own function, MSVC names
// (they begin with '?') by demangle_msvc().
std::string demangle(std::string_view name);

// MSVC's names of functions, as UnDecorateSymbolName writes them with UNDNAME_NAME_ONLY and the parameters:
// "Foo<int>::bar(int, char const *)". Empty: it is none, or one of a form that is not known here.
std::string demangle_msvc(std::string_view name);

// A demangled name for people: what the standard library's templates have by default is left out
// ("std::vector<int>"), std::string has its name back, and long arguments of templates and long lists of
// parameters become "...": "Shop::orders<...>::submit(...)".
std::string shortened(std::string_view demangled);

}  // namespace mixwalk
