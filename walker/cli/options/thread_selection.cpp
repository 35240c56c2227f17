#include "walker/cli/options/thread_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "walker/base/near_match.h"
#include "walker/base/printable.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxNameBytes = 100;  // in a message
constexpr int kDecimal = 10, kHexadecimal = 16;

struct Digits {
  std::string_view text;
  int base;
};

Digits digits_of(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return {text.substr(2), kHexadecimal};
  return {text, kDecimal};
}

}  // namespace

bool ThreadSelection::contains(std::uint32_t os_id, std::string_view name) const {
  return empty() || std::ranges::find(ids, os_id) != ids.end() ||
         std::ranges::any_of(names, [&](const std::string& wanted) {
           return name.starts_with(wanted);
         });
}

bool ThreadSelection::has_main() const noexcept { return std::ranges::find(names, kMainThread) != names.end(); }

std::optional<std::uint32_t> parse_id(std::string_view text) {
  const auto [digits, base] = digits_of(text);
  std::uint32_t id = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, id, base);
  if (error != std::errc{} || end != last || id == 0) return std::nullopt;
  return id;
}

bool is_written_as_id(std::string_view text) {
  const auto [digits, base] = digits_of(text);
  const std::string_view known = base == kDecimal ? "0123456789" : "0123456789abcdefABCDEF";
  return !digits.empty() && digits.find_first_not_of(known) == std::string_view::npos;
}

void UnmatchedThreads::met(std::uint32_t os_id, std::string_view name) {
  constexpr std::size_t kMaxNames = 1000;
  if (!left_.names.empty() && !name.empty() && met_names_.size() < kMaxNames) met_names_.emplace_back(name);
  std::erase(left_.ids, os_id);
  std::erase_if(left_.names, [&](const std::string& wanted) { return name.starts_with(wanted); });
}

void UnmatchedThreads::met_main() { std::erase(left_.names, kMainThread); }

std::string UnmatchedThreads::text() const {
  std::string text;
  for (const std::uint32_t id : left_.ids) {
    text += fmt::format("{}thread {:#x}", text.empty() ? "" : ", ", id);
  }
  for (const std::string& name : left_.names) {
    text += fmt::format("{}thread whose name begins with \"{}\"", text.empty() ? "" : ", ", name);
  }
  return text;
}

std::string UnmatchedThreads::advice() const {
  for (const std::string& wanted : left_.names) {
    if (const std::string near = near_match(wanted, met_names_); !near.empty()) {
      return "; did you mean \"" + printable(near, kMaxNameBytes) + "\"?";
    }
  }
  return "; without --thread, mixwalk takes all threads";
}

}  // namespace mixwalk
