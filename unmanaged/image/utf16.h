#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace mixwalk {

// Converts little-endian UTF-16, as files and other processes have it, to UTF-8. An unpaired surrogate becomes '?';
// zeros and an odd last byte are left out. Not frozen-safe (it allocates).
std::string utf8_of_utf16(std::span<const std::byte> text);

}  // namespace mixwalk
