#pragma once

#include <cerrno>
#include <string>

#include "walker/base/errno_text.h"

namespace mixwalk {

// To be called before the C library is asked to write; then write_error() says why that failed, in words.
//
// Situation: the disk becomes full in the middle of a write. Case: Wine 8's C library then takes the reason from
// GetLastError(), though WriteFile had succeeded for a part of the bytes: a recording on a full disk failed with "No such
// file or directory", the reason of some earlier call. Other C libraries of Windows give no reason at all (errno is 0).
// Remedy: the error that stands there before a write is the one of a full disk.
void expect_full_disk() noexcept;
inline std::string write_error() { return errno_text(errno == 0 ? ENOSPC : errno); }

}  // namespace mixwalk
