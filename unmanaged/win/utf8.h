#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// Convert UTF-16 to UTF-8 and back; invalid parts become U+FFFD. Not frozen-safe.
std::string to_utf8(std::wstring_view text);
std::wstring to_utf16(std::string_view text);

}  // namespace mixwalk
