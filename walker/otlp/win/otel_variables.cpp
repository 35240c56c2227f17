#include "walker/otlp/otel_variables.h"

#include <cstdlib>

#include "unmanaged/win/utf8.h"

namespace mixwalk {

OtelVariables otel_variables() {
  const auto variable = [](const wchar_t* name) -> std::string {
    const wchar_t* const value = _wgetenv(name);
    return value == nullptr ? "" : to_utf8(value);
  };
  return {.service_name = variable(L"OTEL_SERVICE_NAME"),
          .resource_attributes = variable(L"OTEL_RESOURCE_ATTRIBUTES"),
          .endpoint = variable(L"OTEL_EXPORTER_OTLP_ENDPOINT"),
          .profiles_endpoint = variable(L"OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT"),
          .headers = variable(L"OTEL_EXPORTER_OTLP_HEADERS"),
          .profiles_headers = variable(L"OTEL_EXPORTER_OTLP_PROFILES_HEADERS")};
}

}  // namespace mixwalk
