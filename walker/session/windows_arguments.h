#pragma once

#include <string>
#include <vector>

namespace mixwalk {

// A command line that CommandLineToArgvW and the C runtime split into these arguments again. (Source of the rule:
// Microsoft, "Parsing C++ command-line arguments". The first argument, a program's name, must not contain quotes.)
std::string join_windows_arguments(const std::vector<std::string>& arguments);

}  // namespace mixwalk
