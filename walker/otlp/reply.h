#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "walker/otlp/http_post.h"

namespace mixwalk {

// What an answer means, by OTLP/HTTP: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
struct Reply {
  enum class Meaning : std::uint8_t {
    accepted,  // the request must not be sent again, even if its words say that some was rejected
    later,     // try again
    refused,   // do not
  };
  Meaning meaning = Meaning::later;
  std::uint64_t rejected = 0;  // profiles, of an accepted request
  std::string words;  // for a person, one line; of accepted: mostly none. Not printable yet
  std::optional<std::chrono::seconds> wait;  // of later: at least so long
};

Reply reply_of(const HttpAnswer& answer, std::chrono::sys_seconds now);

// Seconds, or a date of HTTP. Returns nothing if neither.
std::optional<std::chrono::seconds> parse_retry_after(std::string_view text,
                                                      std::chrono::sys_seconds now);

}  // namespace mixwalk
