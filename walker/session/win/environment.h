#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mixwalk {

// This process's environment block with these variables set, for CreateProcessW.
std::wstring environment_with(const std::vector<std::pair<std::wstring, std::wstring>>& set);

}  // namespace mixwalk
