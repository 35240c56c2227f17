#pragma once

#include <string>

namespace mixwalk {

// The path of a file of the repository, "docs/json.md", in UTF-8. In the bundle of the tests for Windows
// (tests/support/package --tests) it is the path of the copy beside the programs, and nothing else is read.
std::string repository_file(const std::string& path);
// Whether this program lies in that bundle.
bool in_bundle();

}  // namespace mixwalk
