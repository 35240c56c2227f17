#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mixwalk {

// A variable and its value, or a variable without a value if it is to be removed.
using VariableChange = std::pair<std::wstring, std::optional<std::wstring>>;

// This process's environment block with these changes, for CreateProcessW.
std::wstring environment_with(const std::vector<VariableChange>& changes);

// Returns nothing if this process has no such variable.
std::optional<std::wstring> environment_variable(const wchar_t* name);

}  // namespace mixwalk
