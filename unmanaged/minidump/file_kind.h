#pragma once

#include <cstddef>
#include <span>

#include "unmanaged/minidump/minidump_error.h"

namespace mixwalk {

// Returns what kind of file it is, by its first bytes: no error if the file begins like a minidump, otherwise the error
// that names its kind. Pure.
MinidumpError file_kind(std::span<const std::byte> file) noexcept;

}  // namespace mixwalk
