#pragma once

#include <string>

namespace mixwalk {

// Whether a file is a minidump with all the memory that its tables promise: what a writer has left behind is not, where
// the disk was full and the writer did not look. Empty: it is. Else why not, one line without the path, no full stop.
// `path`: UTF-8; nobody else may have the file open for writing. Not frozen-safe.
std::string why_not_whole(const std::string& path);

}  // namespace mixwalk
