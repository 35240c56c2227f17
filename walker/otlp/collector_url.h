#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mixwalk {

// Where a collector takes profiles by default, below the URL of all signals.
inline constexpr std::string_view kProfilesPath = "/v1development/profiles";

// Where an OpenTelemetry collector takes profiles by OTLP/HTTP, without TLS.
struct CollectorUrl {
  std::string host;  // lower case; an IPv6 address without its brackets
  std::uint16_t port = 4318;
  std::string path{kProfilesPath};

  bool operator==(const CollectorUrl&) const = default;
};

struct ParsedUrl {
  std::optional<CollectorUrl> url;
  std::string problem;  // else: why not, one line that goes on from the name of the option
};

// http://HOST[:PORT][/PATH], nothing else: no user, no query. Not trusted. `default_path`: of a URL without a path, or
// with "/" only.
ParsedUrl parse_collector_url(std::string_view text, std::string_view default_path = kProfilesPath);

// As the Host field of HTTP has it.
std::string authority(const CollectorUrl& url);
// The same text for the same collector, however its URL was written by the user.
std::string text(const CollectorUrl& url);

}  // namespace mixwalk
