#pragma once

#include <string_view>

// Escape sequences of terminals, for texts that are printed.

namespace mixwalk {

inline constexpr std::string_view kReset = "\x1b[0m", kBold = "\x1b[1m", kDim = "\x1b[2m";
// The colours are of the standard sixteen, which are readable on dark and on light backgrounds.
inline constexpr std::string_view kRed = "\x1b[31m", kCyan = "\x1b[36m";

}  // namespace mixwalk
