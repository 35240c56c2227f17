#include "symbols/portable_pdb/source_link.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "symbols/web_url.h"
#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

// The limit for entries. A repository has one, and one for each submodule.
constexpr std::size_t kMaxEntries = 10'000;

// The rest of a path as a part of a URL: its separators become slashes, and its other characters are escaped.
std::string as_url_part(std::string_view rest) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string part;
  for (const char c : rest) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       std::string_view("-_.~/").find(c) != std::string_view::npos;
    if (plain || c == '\\') {
      part += plain ? c : '/';
    } else {
      const auto byte = static_cast<unsigned char>(c);
      part += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return part;
}

}  // namespace

SourceLink::SourceLink(std::span<const std::byte> json) {
  // Those of large repositories have some KB. A parsed value takes many times as much memory as its text.
  constexpr std::size_t kMaxJson = 1 << 20;
  if (json.size() > kMaxJson) return;
  const auto* const text = reinterpret_cast<const char*>(json.data());
  const auto document = nlohmann::json::parse(text, text + json.size(), nullptr, false);
  const auto documents = document.is_object() ? document.find("documents") : document.end();
  if (documents == document.end() || !documents->is_object()) return;
  for (const auto& [path, value] : documents->items()) {
    if (!value.is_string() || path.empty() || entries_.size() == kMaxEntries) continue;
    const auto& url = value.get_ref<const std::string&>();
    const bool whole = !path.ends_with('*');
    const std::size_t star = url.find('*');
    if (!is_web_url(url) || whole != (star == url.npos) || path.find('*') < path.size() - 1) continue;
    Entry entry{.path = ascii_lower(path), .whole = whole, .before = url.substr(0, star), .behind = {}};
    if (!whole) {
      entry.path.pop_back();
      entry.behind = url.substr(star + 1);
    }
    entries_.push_back(std::move(entry));
  }
  std::ranges::stable_sort(entries_, [](const Entry& left, const Entry& right) {
    return left.path.size() > right.path.size();
  });
  bytes_ = entries_.capacity() * sizeof(Entry) + json.size();
}

std::string SourceLink::url_of(std::string_view path) const {
  const std::string lower = entries_.empty() ? std::string() : ascii_lower(path);
  for (const Entry& entry : entries_) {
    if (entry.whole ? lower != entry.path : !lower.starts_with(entry.path)) continue;
    std::string url = entry.before + (entry.whole ? "" : as_url_part(path.substr(entry.path.size()))) + entry.behind;
    return url.size() <= kMaxWebUrl ? url : std::string();
  }
  return {};
}

}  // namespace mixwalk
