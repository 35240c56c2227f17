#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "walker/otlp/http_post.h"

namespace mixwalk {

// The meaning of an answer, by OTLP/HTTP: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
struct Reply {
  enum class Meaning : std::uint8_t {
    accepted,  // the request must not be sent again, even if some of it was rejected
    later,     // the request should be sent again later
    refused,   // the request must not be sent again
  };
  Meaning meaning = Meaning::later;
  std::uint64_t rejected = 0;  // rejected profiles of an accepted request
  std::string words;  // for a person, one line, not printable yet; mostly empty if accepted
  std::optional<std::chrono::seconds> wait;  // for `later`: wait at least this long
};

Reply reply_of(const HttpAnswer& answer, std::chrono::sys_seconds now);

// Parses a number of seconds, or a date of HTTP. Returns nothing if the text is neither.
std::optional<std::chrono::seconds> parse_retry_after(std::string_view text,
                                                      std::chrono::sys_seconds now);

}  // namespace mixwalk
