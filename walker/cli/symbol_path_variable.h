#pragma once

#include <optional>
#include <string>

namespace mixwalk {

// The environment variable _NT_SYMBOL_PATH, UTF-8; nothing if there is none.
std::optional<std::string> symbol_path_variable();

// The text of the symbol path: what --symbol-path says, else that variable; empty if neither is given.
inline std::string symbol_path_text(const std::optional<std::string>& given) {
  return given ? *given : symbol_path_variable().value_or("");
}

}  // namespace mixwalk
