#pragma once

#include <optional>
#include <string>

namespace mixwalk {

// The environment variable _NT_SYMBOL_PATH, UTF-8; nothing: there is none.
std::optional<std::string> symbol_path_variable();

}  // namespace mixwalk
