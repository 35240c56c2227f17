#pragma once

#include <string>

namespace mixwalk {

// Checks whether a file is a minidump with all the memory that its tables promise; a writer that did not check for a
// full disk leaves a file that is not. The result is empty if the dump is complete. Otherwise it is the reason why the
// dump is not complete: one line without the path and without a full stop. `path` is UTF-8; no other process may have
// the file open for writing. Not frozen-safe.
std::string why_not_whole(const std::string& path);

}  // namespace mixwalk
