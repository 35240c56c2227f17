#pragma once

#include <chrono>
#include <cstdint>

namespace mixwalk {

// The present time in milliseconds since 1970. Not for mixwalk.dll, since this clock is that of winpthreads.
inline std::uint64_t unix_time_ms_now() {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count());
}

}  // namespace mixwalk
