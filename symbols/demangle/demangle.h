#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mixwalk {

// Turns the names that a compiler encodes into names as a programmer writes them. Pure; not frozen-safe. Any text may
// be given: a text that is not an encoded name, or whose name would become longer than kMaxDemangled, is returned
// unchanged. Time and memory are bounded.

inline constexpr std::size_t kMaxDemangled = 1024 * 1024;  // characters

// Returns the whole name, for MSVC without the return type: "std::vector<int, std::allocator<int>>::push_back(int
// const&)" for _ZNSt6vectorIiSaIiEE9push_backERKi. LLVM's demanglers read the names of the Itanium C++ ABI ("_Z"), of
// Rust ("_R") and of MSVC ("?").
std::string demangle(std::string_view name);

// The work that many names of one file may take together, so that a hostile file is opened in seconds: characters that
// are written, and steps. The names of the largest real files take some millions.
inline constexpr std::size_t kDemangleBudget = 64u << 20;
// Like demangle(), and subtracts the work. If nothing is left of `budget`, the name is returned unchanged.
std::string demangle(std::string_view name, std::size_t& budget);

// Demangles MSVC's names of functions, as UnDecorateSymbolName writes them with UNDNAME_NAME_ONLY and the parameters:
// "Foo<int>::bar(int, char const *)". The result is empty if the text is not such a name, or has a form that LLVM does
// not know. Throws TooMuchWork (limited_output.h).
std::string demangle_msvc(std::string_view name);
// Whether the text is MSVC's name of a function. Throws TooMuchWork.
bool is_msvc_function(std::string_view name);

// Whether the name of a linker's symbol may be that of code: false for MSVC's names of variables, tables and literals,
// and for "?" names that cannot be read. Subtracts the work; if nothing is left of `budget`, "?" names are not read.
bool may_name_code(std::string_view name, std::size_t& budget);

// Whether `demangled` is the name of a function with its parameters, and `plain` the same name without them:
// "ns::f(int) const" and "ns::f". Spaces do not matter, since each compiler sets them in its own way; the demangled
// name of a template may begin with a return type.
bool is_function_named(std::string_view demangled, std::string_view plain) noexcept;

// Makes a demangled name easier to read: default arguments of the standard library's templates are left out
// ("std::vector<int>"), std::string gets its usual name, and long template arguments and long parameter lists become
// "...": "Shop::orders<...>::submit(...)".
std::string shortened(std::string_view demangled);

}  // namespace mixwalk
