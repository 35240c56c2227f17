#include "walker/otlp/collector_url.h"

#include <algorithm>
#include <charconv>

#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

// Enough for every real URL; a longer one is a mistake, or an attack.
constexpr std::size_t kMaxUrl = 2000;
constexpr std::size_t kMaxHost = 253;  // RFC 1035

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f');
}
bool is_letter(char c) {
  return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}

bool is_name(std::string_view host) {
  return std::ranges::all_of(
      host, [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_'; });
}

// The system's resolver decides later whether it really is an address.
bool looks_like_ipv6(std::string_view host) {
  return host.find(':') != host.npos &&
         std::ranges::all_of(host, [](char c) { return is_hex(c) || c == ':' || c == '.'; });
}

// RFC 3986: pchar and "/".
bool is_path(std::string_view path) {
  constexpr std::string_view kMarks = "/-._~!$&'()*+,;=:@";
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '%') {
      if (path.size() - i < 3 || !is_hex(path[i + 1]) || !is_hex(path[i + 2])) return false;
    } else if (!is_letter(path[i]) && !is_digit(path[i]) && kMarks.find(path[i]) == kMarks.npos) {
      return false;
    }
  }
  return true;
}

std::optional<std::uint16_t> port_number(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

ParsedUrl wrong(std::string problem) {
  return {.problem = std::move(problem)};
}

}  // namespace

ParsedUrl parse_collector_url(std::string_view text, std::string_view default_path) {
  constexpr std::string_view kScheme = "http://";
  if (text.size() > kMaxUrl) return wrong("the URL is too long");
  if (ascii_lower(text).starts_with("https://")) {
    return wrong("https is not supported: give the http:// URL of a collector close by");
  }
  if (!ascii_lower(text).starts_with(kScheme)) return wrong("the URL must begin with http://");
  text.remove_prefix(kScheme.size());
  if (text.find_first_of("?#") != text.npos) return wrong("the URL must not have a query or a fragment");

  const std::size_t slash = std::min(text.find('/'), text.size());
  std::string_view host = text.substr(0, slash);
  const std::string_view path = text.substr(slash);
  if (host.find('@') != host.npos) return wrong("the URL must not have a user or a password");
  if (!is_path(path)) return wrong("the path of the URL is not valid");

  CollectorUrl url;
  std::string_view port;
  if (host.starts_with('[')) {
    const std::size_t bracket = host.find(']');
    port = bracket == host.npos ? "]" : host.substr(bracket + 1);
    host = host.substr(1, bracket - 1);
    if (!looks_like_ipv6(host) || (!port.empty() && port[0] != ':')) {
      return wrong("the IPv6 address of the URL is not valid");
    }
  } else {
    const std::size_t colon = std::min(host.find(':'), host.size());
    port = host.substr(colon);
    host = host.substr(0, colon);
    if (host.empty()) return wrong("the URL has no host");
    if (!is_name(host)) return wrong("the host of the URL is not valid");
  }
  if (host.size() > kMaxHost) return wrong("the host of the URL is too long");
  if (!port.empty()) {
    const auto number = port_number(port.substr(1));
    if (!number) return wrong("the port of the URL must be from 1 to 65535");
    url.port = *number;
  }
  url.host = ascii_lower(host);
  url.path = path.size() > 1 ? path : default_path;
  return {.url = std::move(url)};
}

std::string authority(const CollectorUrl& url) {
  const bool ipv6 = url.host.find(':') != url.host.npos;
  return (ipv6 ? "[" + url.host + "]" : url.host) + ":" + std::to_string(url.port);
}

std::string text(const CollectorUrl& url) {
  return "http://" + authority(url) + url.path;
}

}  // namespace mixwalk
