#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "walker/base/name_value.h"
#include "walker/otlp/collector_url.h"
#include "walker/otlp/http_post.h"

namespace mixwalk {

// HttpPost by Boost.Beast, with one connection per request. Every step has a time limit except the name look-up. The
// system decides how long the name look-up may take.
class BeastPost final : public HttpPost {
 public:
  struct Limits {
    std::chrono::milliseconds connect{5'000}, write{10'000}, read{10'000};  // limits of the whole steps
    std::size_t header_bytes = 16u << 10, body_bytes = 64u << 10;
  };

  // `headers` are sent besides those of this class, or replace them. They must have been checked by request_headers().
  BeastPost(CollectorUrl url, std::vector<NameValue> headers)
      : BeastPost(std::move(url), std::move(headers), Limits{}) {}
  BeastPost(CollectorUrl url, std::vector<NameValue> headers, const Limits& limits)
      : url_(std::move(url)), headers_(std::move(headers)), limits_(limits) {}
  HttpAnswer post(std::string_view request) override;

 private:
  const CollectorUrl url_;
  const std::vector<NameValue> headers_;
  const Limits limits_;
};

}  // namespace mixwalk
