#include "walker/shown/utc_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace mixwalk {

std::string utc_text(std::uint64_t unix_ms) {
  using namespace std::chrono;
  // The end of the year 9999 is the limit, because the calendar's types are too small for all values that a number can
  // have.
  constexpr std::uint64_t kLastMs = 253'402'300'799'999;
  const sys_time<milliseconds> time{milliseconds(std::min(unix_ms, kLastMs))};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace mixwalk
