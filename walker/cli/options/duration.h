#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mixwalk {

// Parses "500ms", "2s", "3m", "1h", "1.5s", "00:00:30", "00:00:00:30" (days first), "2" (seconds) to milliseconds.
// Returns nothing for any other text, and for more than a day.
std::optional<std::uint32_t> parse_duration(std::string_view text);

// Returns false for a duration that is only a number, like "50".
bool has_unit(std::string_view text);

}  // namespace mixwalk
