#include "walker/cli/options/duration.h"

#include <charconv>
#include <cmath>

namespace mixwalk {
namespace {

constexpr double kMaxMilliseconds = 24.0 * 60 * 60 * 1000;

std::optional<std::uint32_t> checked(double milliseconds) {
  if (!(milliseconds >= 0 && milliseconds <= kMaxMilliseconds)) return std::nullopt;
  return static_cast<std::uint32_t>(std::llround(milliseconds));
}

std::optional<unsigned> two_digits(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.size() != 2 || error != std::errc{} || end != text.data() + 2) return std::nullopt;
  return value;
}

// hh:mm:ss, or dd:hh:mm:ss as in dotnet-trace.
std::optional<std::uint32_t> clock(std::string_view text) {
  unsigned days = 0;
  constexpr std::size_t kClock = 8, kDaysAndClock = 11;
  if (text.size() == kDaysAndClock && text[2] == ':') {
    const auto first = two_digits(text.substr(0, 2));
    if (!first) return std::nullopt;
    days = *first;
    text.remove_prefix(3);
  }
  if (text.size() != kClock || text[2] != ':' || text[5] != ':') return std::nullopt;
  const auto hours = two_digits(text.substr(0, 2));
  const auto minutes = two_digits(text.substr(3, 2));
  const auto seconds = two_digits(text.substr(6, 2));
  if (!hours || !minutes || !seconds || *minutes > 59 || *seconds > 59) return std::nullopt;
  return checked((((days * 24.0 + *hours) * 60.0 + *minutes) * 60.0 + *seconds) * 1000.0);
}

}  // namespace

std::optional<std::uint32_t> parse_duration(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return clock(text);
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] =
      std::from_chars(text.data(), last, number, std::chars_format::fixed);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  if (unit == "ms") return checked(number);
  if (unit == "s" || unit.empty()) return checked(number * 1000);
  if (unit == "m") return checked(number * 60'000);
  if (unit == "h") return checked(number * 3'600'000);
  return std::nullopt;
}

bool has_unit(std::string_view text) {
  return text.find(':') != std::string_view::npos || (!text.empty() && text.back() > '9');
}

}  // namespace mixwalk
