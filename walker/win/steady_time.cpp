#include "walker/steady_time.h"

#include "walker/suspended/win/tick_clock.h"

namespace mixwalk {

std::uint64_t steady_time_ns() noexcept { return TickClock().now_ns(); }

}  // namespace mixwalk
