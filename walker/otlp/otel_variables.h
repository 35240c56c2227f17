#pragma once

#include <string>

namespace mixwalk {

// The environment variables of OpenTelemetry that mixwalk reads, as UTF-8. An empty variable counts as not set, as the
// OpenTelemetry specification says. They are untrusted.
struct OtelVariables {
  std::string service_name;         // OTEL_SERVICE_NAME
  std::string resource_attributes;  // OTEL_RESOURCE_ATTRIBUTES
  std::string endpoint;             // OTEL_EXPORTER_OTLP_ENDPOINT: of all signals
  std::string profiles_endpoint;    // OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT: instead of it
  std::string headers;              // OTEL_EXPORTER_OTLP_HEADERS: of all signals
  std::string profiles_headers;     // OTEL_EXPORTER_OTLP_PROFILES_HEADERS: instead of them
};

// Those of this process.
OtelVariables otel_variables();

}  // namespace mixwalk
