#pragma once

#include <string>

namespace mixwalk {

// Returns lines that answer questions of docs/windows.md, as this machine answers them: one line each, "question:
// answer". Nothing here is a test, since no answer is wrong. UTF-8.
std::string windows_answers();

}  // namespace mixwalk
