#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>

namespace mixwalk {

// Whether the stream is a terminal; on Windows, a console.
bool is_terminal(std::FILE* stream) noexcept;

// How many characters a line of the terminal has. Returns nothing if the stream is no terminal, or if the terminal does
// not say.
std::optional<std::size_t> terminal_columns(std::FILE* stream) noexcept;

}  // namespace mixwalk
