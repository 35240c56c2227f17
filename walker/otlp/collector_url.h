#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mixwalk {

// Where an OpenTelemetry collector takes profiles by OTLP/HTTP, without TLS.
struct CollectorUrl {
  std::string host;  // lower case; an IPv6 address without its brackets
  std::uint16_t port = 4318;
  std::string path = "/v1development/profiles";

  bool operator==(const CollectorUrl&) const = default;
};

struct ParsedUrl {
  std::optional<CollectorUrl> url;
  std::string problem;  // else: why not, one line that goes on from the name of the option
};

// http://HOST[:PORT][/PATH], nothing else: no user, no query. Not trusted.
ParsedUrl parse_collector_url(std::string_view text);

// As the Host field of HTTP has it.
std::string authority(const CollectorUrl& url);
// The same text for the same collector, however its URL was written by the user.
std::string text(const CollectorUrl& url);

}  // namespace mixwalk
