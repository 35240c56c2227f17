#include "walker/cli/options/duration.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace mixwalk {
namespace {

constexpr double kMaxMilliseconds = 24.0 * 60 * 60 * 1000;

std::optional<unsigned> two_digits(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.size() != 2 || error != std::errc{} || end != text.data() + 2) return std::nullopt;
  return value;
}

// hh:mm:ss, or dd:hh:mm:ss as in dotnet-trace.
std::optional<double> clock_ms(std::string_view text) {
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
  return (((days * 24.0 + *hours) * 60.0 + *minutes) * 60.0 + *seconds) * 1000.0;
}

struct Unit {
  std::string_view name;
  double ms;
};
// Each unit of a duration is smaller than the one before: "1h30m", not "30m1h".
constexpr Unit kUnits[] = {{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};

// "1m30s"
std::optional<double> units_ms(std::string_view text) {
  double all = 0;
  const Unit* next = std::begin(kUnits);
  do {
    double number = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const std::string_view name = text.substr(0, text.find_first_not_of("hms"));
    const Unit* const unit = std::find_if(next, std::end(kUnits), [&](const Unit& each) { return each.name == name; });
    if (unit == std::end(kUnits)) return std::nullopt;
    if (!(number >= 0)) return std::nullopt;
    all += number * unit->ms;
    text.remove_prefix(name.size());
    next = unit + 1;
  } while (!text.empty());
  return all;
}

std::optional<double> milliseconds(std::string_view text) {
  return text.find(':') != std::string_view::npos ? clock_ms(text) : units_ms(text);
}

}  // namespace

std::optional<std::uint32_t> parse_duration(std::string_view text) {
  const auto ms = milliseconds(text);
  if (!ms || *ms > kMaxMilliseconds) return std::nullopt;
  return static_cast<std::uint32_t>(std::llround(*ms));
}

std::string duration_fault(std::string_view text) {
  if (parse_duration(text)) return {};
  const std::string shown(text);
  if (milliseconds(text)) return "\"" + shown + "\" is more than a day";
  const bool number = !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
  if (number && parse_duration(shown + "s"))
    return "\"" + shown + "\" has no unit: write " + shown + "s, or " + shown + "ms";
  return "\"" + shown + "\" is no duration (500ms, 2s, 1m30s or 00:01:30)";
}

}  // namespace mixwalk
