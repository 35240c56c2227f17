#pragma once

#include <cstddef>
#include <span>

// The format in which bundle.py stores the fixed parts of the HTML report (page_parts.h).
namespace mixwalk::page_pack {

std::span<const unsigned char> packed() noexcept;  // all parts, one after another, as a gzip file
std::span<const std::size_t> sizes() noexcept;     // in bytes, of each part

}  // namespace mixwalk::page_pack
