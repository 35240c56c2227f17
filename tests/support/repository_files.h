#pragma once

#include <string>

namespace mixwalk {

// Returns the path of a file of the repository, such as "docs/json.md", in UTF-8. In the bundle of the tests for
// Windows (tests/tools/package --tests), this is the path of the copy beside the programs, and nothing else is read.
std::string repository_file(const std::string& path);
// Whether this program is part of that bundle.
bool in_bundle();

}  // namespace mixwalk
