#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "unmanaged/ascii_lower.h"

namespace mixwalk {

// The limit for the URL of a source file, in bytes. Real ones have some hundred.
inline constexpr std::size_t kMaxWebUrl = 4096;

// Whether the text can be the URL of a link: a browser reads it from the web, and it has no character that would end
// it. URLs come from PDBs and from files of others. Pure.
inline bool is_web_url(std::string_view url) {
  const std::string lower = ascii_lower(url.substr(0, 8));
  return url.size() <= kMaxWebUrl && (lower.starts_with("https://") || lower.starts_with("http://")) &&
         std::ranges::none_of(url, [](char c) { return c <= ' ' || c == '"' || c == '<' || c == '>' || c == 0x7F; });
}

}  // namespace mixwalk
