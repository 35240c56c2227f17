#pragma once

#include <string>

namespace mixwalk {

// Whether a file is a minidump with all the memory that its tables promise: a writer that did not check for a full disk
// leaves a file that is not. Empty: it is complete. Otherwise the reason why not, one line without the path and without
// a full stop. `path`: UTF-8; no other process may have the file open for writing. Not frozen-safe.
std::string why_not_whole(const std::string& path);

}  // namespace mixwalk
