#pragma once

#include <string>

namespace mixwalk {

// The environment variables of OpenTelemetry that mixwalk takes notice of, as UTF-8. Empty and not
// set are the same, as the OpenTelemetry specification says. Not trusted.
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
