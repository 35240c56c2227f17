#include "walker/otlp/name_values.h"

#include <algorithm>
#include <charconv>

#include "walker/base/utf8.h"

namespace mixwalk {
namespace {

// The maximal length of a variable on Windows.
constexpr std::size_t kMaxText = 32'767;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhite = " \t";
  const std::size_t first = std::min(text.find_first_not_of(kWhite), text.size());
  return text.substr(first, text.find_last_not_of(kWhite) - first + 1);
}

// Returns nothing if a % is not followed by two hexadecimal digits, or if the bytes are not UTF-8.
std::optional<std::string> decoded(std::string_view text) {
  constexpr std::size_t kDigits = 2;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(i + 1, kDigits);
    const char* const end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, byte, 16);
    if (digits.size() != kDigits || parsed.ptr != end) return std::nullopt;
    bytes += static_cast<char>(byte);
    i += kDigits;
  }
  if (valid_utf8(bytes) != bytes) return std::nullopt;
  return bytes;
}

ParsedNameValues wrong(std::string problem) {
  return {.problem = std::move(problem)};
}

}  // namespace

ParsedNameValues parse_name_values(std::string_view text) {
  ParsedNameValues parsed;
  if (text.size() > kMaxText) return wrong("the list is too long");
  if (trimmed(text).empty()) return parsed;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view member = trimmed(text.substr(0, comma));
    const std::size_t equals = member.find('=');
    if (equals == member.npos) return wrong("\"" + std::string(member) + "\" has no \"=\"");
    auto name = decoded(trimmed(member.substr(0, equals)));
    auto value = decoded(trimmed(member.substr(equals + 1)));
    if (!name || !value) {
      return wrong("\"" + std::string(member) + "\" is not percent-encoded UTF-8");
    }
    if (name->empty()) return wrong("\"" + std::string(member) + "\" has no name");
    std::erase_if(parsed.pairs, [&](const NameValue& pair) { return pair.name == *name; });
    parsed.pairs.push_back({std::move(*name), std::move(*value)});
    if (comma == text.size()) return parsed;
    text.remove_prefix(comma + 1);
  }
}

std::optional<NameValue> parse_name_value(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || valid_utf8(text) != text) return std::nullopt;
  return NameValue{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

}  // namespace mixwalk
