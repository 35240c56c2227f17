#include "walker/cli/symbol_path_variable.h"

#include "unmanaged/win/utf8.h"
#include "walker/session/win/environment.h"

namespace mixwalk {

std::optional<std::string> symbol_path_variable() {
  const auto variable = environment_variable(L"_NT_SYMBOL_PATH");
  return variable ? std::optional(to_utf8(*variable)) : std::nullopt;
}

}  // namespace mixwalk
