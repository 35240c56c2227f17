#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "walker/base/failure.h"

namespace mixwalk {

// Why a program cannot be looked at once it runs, by its file alone. To be asked before the program is started, because
// afterwards mixwalk would wait for a runtime that never comes. Pure, and portable; not frozen-safe.
//
// Returns nothing for a program of x64, for one of .NET Framework that runs as x64 (its file has a CLR header, and "any
// processor" is x64 there), and for a file about which the system itself says what is wrong. `path`: as it was found.
// `file`: the whole file; it is not trusted.
std::optional<Failure> program_refusal(std::string_view path, std::span<const std::byte> file);

}  // namespace mixwalk
