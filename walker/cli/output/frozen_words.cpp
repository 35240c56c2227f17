#include "walker/cli/output/frozen_words.h"

#include <fmt/format.h>

namespace mixwalk {

std::string frozen_words(std::uint64_t nanoseconds, bool cloned) {
  const double ms = static_cast<double>(nanoseconds) / 1e6;
  const std::string time = ms < 9.95    ? fmt::format("{:.1f} ms", ms)
                           : ms < 999.5 ? fmt::format("{:.0f} ms", ms)
                                        : fmt::format("{:.1f} s", ms / 1e3);
  return "stood for " + time + (cloned ? " (a clone was written)" : "");
}

}  // namespace mixwalk
