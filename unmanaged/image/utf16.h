#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace mixwalk {

// UTF-8 of little-endian UTF-16, as files and other processes have it. A half of a pair that stands alone
// becomes '?', zeros are left out, and so is an odd last byte. Not frozen-safe (it allocates).
std::string utf8_of_utf16(std::span<const std::byte> text);

}  // namespace mixwalk
