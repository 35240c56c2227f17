#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "walker/base/name_value.h"
#include "walker/model/recording.h"

namespace mixwalk {

// The limit that collectors have for gRPC by default (that for HTTP is five times as large), and less than what a proxy
// in front of a collector is likely to refuse.
inline constexpr std::size_t kMaxRequestBytes = std::size_t{4} << 20;

// What requests say of the process, beside what was recorded.
struct RequestContent {
  std::vector<NameValue> attributes;  // of the resource
  bool command_line = false;          // whether they have it
};

// The recording as OTLP requests of at most this many bytes each, except for a single sample that is larger; in the
// order of their times, compressed by gzip. Each has a random profile id, which the spool keeps, so that a collector
// can recognise a request that it gets a second time.
void for_each_request(const Recording& recording, const RequestContent& content,
                      std::size_t max_bytes,
                      const std::function<void(std::string request, std::size_t samples)>& take);

}  // namespace mixwalk
