#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mixwalk {

// Untrusted text in a form that is safe for a terminal. UTF-8 is kept. Characters that could move the cursor, change
// the colour or reorder the line become `\xNN` (a byte) or `\uNNNN` (a character): C0, DEL and C1 controls, line and
// paragraph separators, direction marks, and bytes that are not UTF-8. The result has no more than `max_bytes`, cut
// between characters, followed by "…".
std::string printable(std::string_view text, std::size_t max_bytes);

// A name in quotes. Quotes inside the name are escaped, so that they do not end the text. `max_bytes`: of the name.
std::string quoted_name(std::string_view name, std::size_t max_bytes);

// A path in quotes, for a message. It is printable, and at most 1,000 bytes long.
std::string quoted_path(std::string_view path);

}  // namespace mixwalk
