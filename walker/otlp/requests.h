#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "walker/base/name_value.h"
#include "walker/model/recording.h"

namespace mixwalk {

// The limit that collectors have for gRPC by default (that for HTTP is five times as large). It is less than what a
// proxy in front of a collector is likely to refuse.
inline constexpr std::size_t kMaxRequestBytes = std::size_t{4} << 20;

// The content of requests that describes the process, besides the recorded data.
struct RequestContent {
  std::vector<NameValue> attributes;  // attributes of the resource
  bool command_line = false;          // whether requests contain the command line
};

// Makes OTLP requests from the recording, in the order of time, compressed by gzip. Each has at most this many bytes
// before the compression, unless a single sample is larger. Each has a random profile id. The spool keeps this id, so
// that a collector can recognise a request that it gets a second time.
void for_each_request(const Recording& recording, const RequestContent& content,
                      std::size_t max_bytes,
                      const std::function<void(std::string request, std::size_t samples)>& take);

}  // namespace mixwalk
