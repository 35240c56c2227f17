#include "walker/base/steady_time.h"

#include <chrono>

namespace mixwalk {

std::uint64_t steady_time_ns() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace mixwalk
