#include "walker/base/steady_time.h"

#include "walker/base/win/tick_clock.h"

namespace mixwalk {

std::uint64_t steady_time_ns() noexcept { return TickClock().now_ns(); }

}  // namespace mixwalk
