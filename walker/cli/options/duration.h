#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mixwalk {

// Parses "500ms", "2s", "3m", "1h", "1.5s", "1m30s", "00:00:30", "00:00:00:30" (days first) to milliseconds. Returns
// nothing for any other text, and for more than a day. A number alone, like "50", is no duration: for some options
// people would mean seconds, for others milliseconds.
std::optional<std::uint32_t> parse_duration(std::string_view text);

// Why the text is no duration, and what to write instead: `"50" has no unit: write 50s, or 50ms`. Empty if it is one.
std::string duration_fault(std::string_view text);

}  // namespace mixwalk
