#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "walker/base/name_value.h"

namespace mixwalk {

struct ParsedNameValues {
  std::vector<NameValue> pairs;
  std::string problem;  // why the list is not valid, one line, not printable yet; empty if it is
};

// Parses the list in OTEL_RESOURCE_ATTRIBUTES and OTEL_EXPORTER_OTLP_HEADERS: NAME=VALUE,NAME=VALUE, as in W3C Baggage,
// without its metadata. White space around a name or a value is not part of it; %XX is a byte. One error makes the
// whole list invalid, as the OpenTelemetry specification says. An empty list is valid. Of two pairs with the same name
// the last one counts. The text is untrusted.
ParsedNameValues parse_name_values(std::string_view text);

// Parses NAME=VALUE from the command line. The value is used unchanged, including white space and %XX.
std::optional<NameValue> parse_name_value(std::string_view text);

}  // namespace mixwalk
