#include "walker/otlp/otel_settings.h"

#include <algorithm>
#include <array>

#include "unmanaged/ascii_lower.h"
#include "walker/base/utf8.h"

namespace mixwalk {
namespace {

constexpr std::string_view kServiceName = "service.name";
// The default limit of OpenTelemetry's SDKs for the number of attributes.
constexpr std::size_t kMaxPairs = 128;

ParsedNameValues wrong(std::string problem) {
  return {.problem = std::move(problem)};
}

ParsedNameValues parse_given(const std::vector<std::string>& given) {
  ParsedNameValues parsed;
  for (const std::string& text : given) {
    auto pair = parse_name_value(text);
    if (!pair) return wrong('"' + text + "\" is not NAME=VALUE");
    parsed.pairs.push_back(std::move(*pair));
  }
  return parsed;
}

// The path of profiles is added to the URL for all signals.
ParsedUrl parse_base_url(std::string base) {
  while (base.ends_with('/')) base.pop_back();
  const std::size_t host = base.find("//");
  if (host == base.npos || base.find('/', host + 2) == base.npos) return parse_collector_url(base);
  return parse_collector_url(base + std::string(kProfilesPath));
}

// RFC 9110: token.
bool is_header_name(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return (c >= '0' && c <= '9') || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') ||
           kMarks.find(c) != kMarks.npos;
  });
}

// Whether the value has no characters that end the line, and none whose meaning depends on the reader.
bool is_header_value(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~'; });
}

// Headers that determine how a request is read, or where it is sent. mixwalk sets these itself.
bool is_ours(std::string_view name) {
  constexpr std::array<std::string_view, 8> kOurs = {
      "connection", "content-encoding", "content-length",    "content-type",
      "expect",     "host",             "transfer-encoding", "upgrade"};
  return std::ranges::find(kOurs, ascii_lower(name)) != kOurs.end();
}

}  // namespace

ParsedUrl collector_url(const std::string& url, const OtelVariables& variables) {
  const auto from = [](const std::string& source, ParsedUrl parsed) {
    if (!parsed.problem.empty()) parsed.problem = source + ": " + parsed.problem;
    return parsed;
  };
  if (!url.empty()) return from("--otlp", parse_collector_url(url));
  if (const std::string& its = variables.profiles_endpoint; !its.empty()) {
    // Used unchanged; without a path, the root path is used (the specification of OpenTelemetry's OTLP exporter says
    // so).
    return from("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", parse_collector_url(its, "/"));
  }
  if (const std::string& its = variables.endpoint; !its.empty()) {
    return from("OTEL_EXPORTER_OTLP_ENDPOINT", parse_base_url(its));
  }
  return {.problem = "--otlp needs a URL, since neither "
                     "OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT nor OTEL_EXPORTER_OTLP_ENDPOINT is set"};
}

ParsedNameValues resource_attributes(const std::vector<std::string>& given,
                                     const std::optional<std::string>& service,
                                     const OtelVariables& variables) {
  if (service && service->empty()) return wrong("--otlp-service needs a name");
  const auto is_utf8 = [](const std::string& text) { return valid_utf8(text) == text; };
  if (service && !is_utf8(*service)) return wrong("--otlp-service: the name is not UTF-8");
  if (!is_utf8(variables.service_name)) return wrong("OTEL_SERVICE_NAME: the name is not UTF-8");
  ParsedNameValues options = parse_given(given);
  if (!options.problem.empty()) return wrong("--otlp-attribute: " + options.problem);
  ParsedNameValues merged = parse_name_values(variables.resource_attributes);
  if (!merged.problem.empty()) return wrong("OTEL_RESOURCE_ATTRIBUTES: " + merged.problem);
  const auto set = [&merged](NameValue pair) {
    if (pair.value.empty()) return;
    const auto found = std::ranges::find(merged.pairs, pair.name, &NameValue::name);
    if (found != merged.pairs.end()) {
      found->value = std::move(pair.value);
    } else {
      merged.pairs.push_back(std::move(pair));
    }
  };
  set({std::string(kServiceName), variables.service_name});
  for (NameValue& pair : options.pairs) set(std::move(pair));
  if (service) set({std::string(kServiceName), *service});
  std::erase_if(merged.pairs, [](const NameValue& pair) { return pair.value.empty(); });
  if (merged.pairs.size() > kMaxPairs) {
    return wrong("--otlp: more than 128 attributes are given");
  }
  return merged;
}

ParsedNameValues request_headers(const std::vector<std::string>& given,
                                 const OtelVariables& variables) {
  const bool of_profiles = !variables.profiles_headers.empty();
  const std::string variable =
      of_profiles ? "OTEL_EXPORTER_OTLP_PROFILES_HEADERS" : "OTEL_EXPORTER_OTLP_HEADERS";
  // Only the name of a header is shown, because its value may be a secret. A wrong name may contain a secret too: in
  // "Authorization: Basic dXNlcjpwYXNz=" the first equals sign is at the end. So a wrong name is not shown either.
  const auto check = [](const std::string& source, ParsedNameValues& parsed) {
    for (const auto& [name, value] : parsed.pairs) {
      if (!is_header_name(name)) return source + ": a header has a name that HTTP does not allow";
      const std::string its = source + ": the header \"" + name + "\" ";
      if (is_ours(name)) return its + "is set by mixwalk itself";
      if (!is_header_value(value)) return its + "has a value that HTTP does not allow";
    }
    return std::string();
  };
  ParsedNameValues merged =
      parse_name_values(of_profiles ? variables.profiles_headers : variables.headers);
  if (!merged.problem.empty()) return wrong(variable + ": it is not a list of NAME=VALUE");
  if (auto problem = check(variable, merged); !problem.empty()) return wrong(std::move(problem));
  ParsedNameValues options = parse_given(given);
  if (!options.problem.empty()) return wrong("--otlp-header: what is given is not NAME=VALUE");
  if (auto problem = check("--otlp-header", options); !problem.empty()) {
    return wrong(std::move(problem));
  }
  for (NameValue& pair : options.pairs) {
    std::erase_if(merged.pairs, [&](const NameValue& other) {
      return ascii_lower(other.name) == ascii_lower(pair.name);
    });
    merged.pairs.push_back(std::move(pair));
  }
  if (merged.pairs.size() > kMaxPairs) return wrong("--otlp: more than 128 headers are given");
  return merged;
}

}  // namespace mixwalk
