#pragma once

#include <cstdint>

#include "symbols/byte_cursor.h"

namespace mixwalk {

// Read a compressed number of metadata (ECMA-335 II.23.2), unsigned or signed. They fail the cursor if there is no
// number. Pure.
std::uint32_t read_compressed(ByteCursor& cursor) noexcept;
std::int32_t read_compressed_signed(ByteCursor& cursor) noexcept;

}  // namespace mixwalk
