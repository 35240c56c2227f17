#pragma once

#include <string>

namespace mixwalk {

// The environment variables of OpenTelemetry that mixwalk reads, as UTF-8. An empty variable counts as not set, as the
// OpenTelemetry specification says. The values are untrusted.
struct OtelVariables {
  std::string service_name;         // OTEL_SERVICE_NAME
  std::string resource_attributes;  // OTEL_RESOURCE_ATTRIBUTES
  std::string endpoint;             // OTEL_EXPORTER_OTLP_ENDPOINT: for all signals
  std::string profiles_endpoint;    // OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT: used instead, for profiles
  std::string headers;              // OTEL_EXPORTER_OTLP_HEADERS: for all signals
  std::string profiles_headers;     // OTEL_EXPORTER_OTLP_PROFILES_HEADERS: used instead, for profiles
};

// The variables of this process.
OtelVariables otel_variables();

}  // namespace mixwalk
