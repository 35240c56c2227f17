#include "walker/otlp/otel_variables.h"

#include "walker/base/environment.h"

namespace mixwalk {

OtelVariables otel_variables() {
  const auto variable = [](const char* name) { return environment_text(name).value_or(""); };
  return {.service_name = variable("OTEL_SERVICE_NAME"),
          .resource_attributes = variable("OTEL_RESOURCE_ATTRIBUTES"),
          .endpoint = variable("OTEL_EXPORTER_OTLP_ENDPOINT"),
          .profiles_endpoint = variable("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT"),
          .headers = variable("OTEL_EXPORTER_OTLP_HEADERS"),
          .profiles_headers = variable("OTEL_EXPORTER_OTLP_PROFILES_HEADERS")};
}

}  // namespace mixwalk
