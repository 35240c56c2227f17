#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mixwalk {

// The path at which a collector takes profiles by default, relative to the URL of all signals.
inline constexpr std::string_view kProfilesPath = "/v1development/profiles";

// The place at which an OpenTelemetry collector takes profiles by OTLP/HTTP, without TLS.
struct CollectorUrl {
  std::string host;  // lower case; an IPv6 address without its brackets
  std::uint16_t port = 4318;
  std::string path{kProfilesPath};

  bool operator==(const CollectorUrl&) const = default;
};

struct ParsedUrl {
  std::optional<CollectorUrl> url;
  std::string problem;  // if there is no URL: why not, one line that follows the name of the option
};

// Parses http://HOST[:PORT][/PATH]. Nothing else is allowed: no user, no query. The text is not trusted.
// `default_path`: used if the URL has no path, or only "/".
ParsedUrl parse_collector_url(std::string_view text, std::string_view default_path = kProfilesPath);

// The host and the port in the form of the Host field of HTTP.
std::string authority(const CollectorUrl& url);
// A text that is the same for the same collector, however the user wrote its URL.
std::string text(const CollectorUrl& url);

}  // namespace mixwalk
