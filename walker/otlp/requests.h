#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "walker/base/name_value.h"
#include "walker/model/recording.h"

namespace mixwalk {

// What a collector takes by gRPC unless it is told otherwise (by HTTP five times as much), and less
// than what a proxy before it is likely to refuse.
inline constexpr std::size_t kMaxRequestBytes = std::size_t{4} << 20;

// What requests say of the process, beside what was recorded.
struct RequestContent {
  std::vector<NameValue> attributes;  // of the resource
  bool command_line = false;          // whether they have it
};

// The recording as OTLP requests of no more than so many bytes each, but for a sample that is
// larger on its own; in the order of their times, compressed by gzip. Each has a random profile id,
// which it keeps in the spool: a collector can know one that it gets a second time.
void for_each_request(const Recording& recording, const RequestContent& content,
                      std::size_t max_bytes,
                      const std::function<void(std::string request, std::size_t samples)>& take);

}  // namespace mixwalk
