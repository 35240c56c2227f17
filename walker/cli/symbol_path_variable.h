#pragma once

#include <optional>
#include <string>

namespace mixwalk {

// The environment variable _NT_SYMBOL_PATH, UTF-8. Returns nothing if it is not set.
std::optional<std::string> symbol_path_variable();

// The text of the symbol path: the value of --symbol-path, or else that variable. Empty if neither is given.
inline std::string symbol_path_text(const std::optional<std::string>& given) {
  return given ? *given : symbol_path_variable().value_or("");
}

}  // namespace mixwalk
