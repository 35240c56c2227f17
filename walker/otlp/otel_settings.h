#pragma once

#include <optional>
#include <string>
#include <vector>

#include "walker/otlp/collector_url.h"
#include "walker/otlp/name_values.h"
#include "walker/otlp/otel_variables.h"

namespace mixwalk {

// The settings that result from options and variables, by the precedence of the OpenTelemetry specification: an option
// overrides a variable, and the variable for profiles overrides the one for all signals. Pure. A problem names the
// option or the variable that is wrong.

// `url`: the value of --otlp. If it is empty, a variable names the collector.
ParsedUrl collector_url(const std::string& url, const OtelVariables& variables);

// `given`: NAME=VALUE of --otlp-attribute. `service`: the value of --otlp-service. The order of precedence is
// `service`, `given`, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES. If one has an empty value, the next one is used.
ParsedNameValues resource_attributes(const std::vector<std::string>& given,
                                     const std::optional<std::string>& service,
                                     const OtelVariables& variables);

// `given`: NAME=VALUE of --otlp-header. Names are those of HTTP headers, in any case. Headers that determine how a
// request is read are refused.
ParsedNameValues request_headers(const std::vector<std::string>& given,
                                 const OtelVariables& variables);

}  // namespace mixwalk
