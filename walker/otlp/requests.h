#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "walker/model/recording.h"

namespace mixwalk {

// What a collector takes by gRPC unless it is told otherwise (by HTTP five times as much), and less
// than what a proxy before it is likely to refuse.
inline constexpr std::size_t kMaxRequestBytes = std::size_t{4} << 20;

// The recording as OTLP requests of no more than so many bytes each, but for a sample that is
// larger on its own; in the order of their times, compressed by gzip.
void for_each_request(const Recording& recording, std::size_t max_bytes,
                      const std::function<void(std::string request, std::size_t samples)>& take);

}  // namespace mixwalk
