#include "symbols/demangle/rust.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "symbols/demangle/limited_output.h"
//
#include "llvm/Demangle/Demangle.h"

namespace mixwalk {
namespace {

// What LLVM appends to a function that it moved to another unit: ".llvm." and a number.
std::string_view without_llvm(std::string_view name) noexcept {
  const std::size_t at = name.find(".llvm.");
  const bool number = at != name.npos && name.find_first_not_of("0123456789ABCDEF@", at + 6) == name.npos;
  return number ? name.substr(0, at) : name;
}

void append_utf8(std::uint32_t code, std::string& text) {
  const auto tail = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += {static_cast<char>(0xC0 | code >> 6), tail(0)};
  } else if (code < 0x10000) {
    text += {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
  } else {
    text += {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
  }
}

// Appends the character between two dollar signs: "LT" is '<', "u7b" is '{'. Returns false for other texts.
bool append_escaped(std::string_view escape, std::string& text) {
  constexpr std::array<std::pair<std::string_view, char>, 8> kNamed = {
      {{"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'}, {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','}}};
  const auto named = std::ranges::find(kNamed, escape, &decltype(kNamed)::value_type::first);
  if (named != kNamed.end()) {
    text += named->second;
    return true;
  }
  std::uint32_t code = 0;
  if (escape.size() < 2 || escape.size() > 7 || escape[0] != 'u') return false;
  const char* const end = escape.data() + escape.size();
  const auto read = std::from_chars(escape.data() + 1, end, code, 16);
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  if (read.ptr != end || read.ec != std::errc() || control || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    return false;
  }
  append_utf8(code, text);
  return true;
}

// A part with an escape that is none is kept as it is from there on.
void append_part(std::string_view part, std::string& text) {
  if (part.starts_with("_$")) part.remove_prefix(1);  // a name must not begin with a dollar sign
  while (!part.empty()) {
    if (part.starts_with("..")) {
      text += "::";
      part.remove_prefix(2);
    } else if (part.starts_with('$')) {
      const std::size_t end = part.find('$', 1);
      if (end == part.npos || !append_escaped(part.substr(1, end - 1), text)) break;
      part.remove_prefix(end + 1);
    } else {
      const std::size_t plain = std::min(part.find_first_of("$.", 1), part.size());
      text += part.substr(0, plain);
      part.remove_prefix(plain);
    }
  }
  text += part;
}

bool is_hash(std::string_view part) noexcept {
  return part.size() == 17 && part[0] == 'h' && part.find_first_not_of("0123456789abcdef", 1) == part.npos;
}

}  // namespace

std::string demangle_rust(std::string_view name) {
  const std::unique_ptr<char, void (*)(void*)> text(llvm::rustDemangle(without_llvm(name)), std::free);
  return text == nullptr ? std::string() : std::string(text.get());
}

std::string demangle_legacy_rust(std::string_view name) {
  name = without_llvm(name);
  if (!name.starts_with("_ZN")) return {};
  name.remove_prefix(3);
  std::vector<std::string_view> parts;
  while (!name.empty() && name[0] >= '1' && name[0] <= '9') {
    std::size_t length = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), length);
    name.remove_prefix(static_cast<std::size_t>(read.ptr - name.data()));
    if (read.ec != std::errc() || length > name.size()) return {};
    parts.push_back(name.substr(0, length));
    name.remove_prefix(length);
  }
  // Behind the end of the name may be what a compiler appends to a part of a function: ".cold".
  if (parts.size() < 2 || !is_hash(parts.back()) || !name.starts_with('E') || (name.size() > 1 && name[1] != '.')) {
    return {};
  }
  std::string text;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (i != 0) text += "::";
    append_part(parts[i], text);
  }
  return text.append(name.substr(1));
}

}  // namespace mixwalk
