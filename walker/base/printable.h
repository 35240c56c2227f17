#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mixwalk {

// Untrusted text as a terminal may have it: UTF-8 stays; whatever could move the cursor, change the
// colour or reorder the line comes out as `\xNN` (a byte) or `\uNNNN` (a character): C0, DEL and C1
// controls, line and paragraph separators, direction marks, and bytes that are no UTF-8. No more
// than `max_bytes`, cut between characters, then "…".
std::string printable(std::string_view text, std::size_t max_bytes);

// A path in quotes, for a message: printable, 1,000 bytes of it at most.
std::string quoted_path(std::string_view path);

}  // namespace mixwalk
