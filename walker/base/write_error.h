#pragma once

#include <cerrno>
#include <string>

#include "walker/base/errno_text.h"

namespace mixwalk {

// To be called before the C library is asked to write, so that write_error() can say afterwards why the write failed,
// in words.
//
// Folklore. Situation: the disk becomes full in the middle of a write. Real case: Wine 8's C library takes the reason
// from GetLastError(), although WriteFile had succeeded for a part of the bytes. So a recording on a full disk failed
// with "No such file or directory", the reason of some earlier call. Other C libraries of Windows give no reason at all
// (errno is 0). Remedy: before a write, the last error is set to the one of a full disk.
void expect_full_disk() noexcept;
inline std::string write_error() { return errno_text(errno == 0 ? ENOSPC : errno); }

}  // namespace mixwalk
