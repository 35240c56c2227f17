#pragma once

#include <cstdint>
#include <string>

namespace mixwalk {

// "2026-11-23 05:38:41 UTC" for a time in milliseconds since 1970. The result is never past the year 9999.
std::string utc_text(std::uint64_t unix_ms);

}  // namespace mixwalk
