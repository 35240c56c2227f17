#pragma once

#include <string>
#include <vector>

namespace mixwalk::test {

// Random names of Rust's functions, made from the grammars of its two encodings (RFC 2603 and the older one). The same
// ones each time.
std::vector<std::string> rust_names(std::size_t count);
std::vector<std::string> legacy_rust_names(std::size_t count);

}  // namespace mixwalk::test
