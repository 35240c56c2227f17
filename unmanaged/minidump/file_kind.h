#pragma once

#include <cstddef>
#include <span>

#include "unmanaged/minidump/minidump_error.h"

namespace mixwalk {

// What a file is by its first bytes: none where it begins as a minidump does; else the error that names what
// it is. Pure.
MinidumpError file_kind(std::span<const std::byte> file) noexcept;

}  // namespace mixwalk
