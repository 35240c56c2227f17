#include "walker/cli/symbol_path_variable.h"

#include <cstdlib>

namespace mixwalk {

std::optional<std::string> symbol_path_variable() {
  const char* const value = std::getenv("_NT_SYMBOL_PATH");
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace mixwalk
