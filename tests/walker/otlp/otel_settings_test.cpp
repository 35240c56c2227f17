#include "walker/otlp/otel_settings.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

using Pairs = std::vector<NameValue>;

std::string url(const std::string& given, const OtelVariables& variables) {
  const ParsedUrl parsed = collector_url(given, variables);
  return parsed.url ? text(*parsed.url) : parsed.problem;
}

TEST(OtelSettings, TheCollectorOfTheOptionThenOfProfilesThenOfAllSignals) {
  OtelVariables variables{.endpoint = "http://all"};
  EXPECT_EQ(url("", variables), "http://all:4318/v1development/profiles");
  variables.profiles_endpoint = "http://profiles:1/a";
  EXPECT_EQ(url("", variables), "http://profiles:1/a");
  EXPECT_EQ(url("http://given:2/b", variables), "http://given:2/b");
}

TEST(OtelSettings, ThePathOfProfilesFollowsTheUrlOfAllSignals) {
  EXPECT_EQ(url("", {.endpoint = "http://a/"}), "http://a:4318/v1development/profiles");
  EXPECT_EQ(url("", {.endpoint = "http://a:1/otlp"}), "http://a:1/otlp/v1development/profiles");
  EXPECT_EQ(url("", {.endpoint = "http://a:1/otlp//"}), "http://a:1/otlp/v1development/profiles");
}

TEST(OtelSettings, TheUrlOfProfilesIsUsedAsItIs) {
  EXPECT_EQ(url("", {.profiles_endpoint = "http://a:1"}), "http://a:1/");
  EXPECT_EQ(url("", {.profiles_endpoint = "http://a/"}), "http://a:4318/");
  EXPECT_EQ(url("", {.profiles_endpoint = "http://a/b/"}), "http://a:4318/b/");
}

TEST(OtelSettings, ACollectorThatMakesNoSenseIsNamedBySource) {
  EXPECT_EQ(
      url("", {}),
      "--otlp needs a URL, since neither OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT nor OTEL_EXPORTER_OTLP_ENDPOINT is set");
  EXPECT_EQ(url("http://a:0", {.endpoint = "http://b"}),
            "--otlp: the port of the URL must be from 1 to 65535");
  EXPECT_TRUE(url("", {.endpoint = "https://a"})
                  .starts_with("OTEL_EXPORTER_OTLP_ENDPOINT: https is not supported"));
  EXPECT_EQ(url("", {.endpoint = "localhost:4318"}),
            "OTEL_EXPORTER_OTLP_ENDPOINT: the URL must begin with http://");
  EXPECT_EQ(url("", {.endpoint = "http://a/?b"}),
            "OTEL_EXPORTER_OTLP_ENDPOINT: the URL must not have a query or a fragment");
  EXPECT_EQ(url("", {.endpoint = "http://b", .profiles_endpoint = "ftp://a"}),
            "OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT: the URL must begin with http://");
}

Pairs attributes(const std::vector<std::string>& given, const std::optional<std::string>& service,
                 const OtelVariables& variables) {
  const ParsedNameValues merged = resource_attributes(given, service, variables);
  EXPECT_EQ(merged.problem, "");
  return merged.pairs;
}

TEST(OtelSettings, TheServiceByItsPrecedence) {
  OtelVariables variables{.resource_attributes = "service.name=list"};
  EXPECT_EQ(attributes({}, {}, variables), (Pairs{{"service.name", "list"}}));
  variables.service_name = "variable%41";
  EXPECT_EQ(attributes({}, {}, variables), (Pairs{{"service.name", "variable%41"}}));
  EXPECT_EQ(attributes({"service.name=given"}, {}, variables),
            (Pairs{{"service.name", "given"}}));
  EXPECT_EQ(attributes({"service.name=given"}, "option", variables),
            (Pairs{{"service.name", "option"}}));
}

TEST(OtelSettings, AttributesOfOptionsReplaceThoseOfTheVariable) {
  EXPECT_EQ(attributes({"a=1", "c=%3"}, {}, {.resource_attributes = "b=%20,a=2"}),
            (Pairs{{"b", " "}, {"a", "1"}, {"c", "%3"}}));
}

TEST(OtelSettings, AnEmptyValueGivesWay) {
  EXPECT_EQ(attributes({"a=", "b="}, {}, {.resource_attributes = "a=2,c="}), (Pairs{{"a", "2"}}));
  EXPECT_EQ(attributes({}, {}, {}), Pairs{});
}

TEST(OtelSettings, AttributesThatMakeNoSense) {
  const auto problem = [](const std::vector<std::string>& given,
                          const std::optional<std::string>& service,
                          const OtelVariables& variables) {
    return resource_attributes(given, service, variables).problem;
  };
  EXPECT_EQ(problem({}, "", {}), "--otlp-service needs a name");
  EXPECT_EQ(problem({"a"}, {}, {}), "--otlp-attribute: \"a\" is not NAME=VALUE");
  EXPECT_EQ(problem({}, {}, {.resource_attributes = "a=%"}),
            "OTEL_RESOURCE_ATTRIBUTES: \"a=%\" is not percent-encoded UTF-8");
  EXPECT_EQ(problem({}, std::string("a\xff"), {}), "--otlp-service: the name is not UTF-8");
  EXPECT_EQ(problem({}, {}, {.service_name = "a\xff"}), "OTEL_SERVICE_NAME: the name is not UTF-8");
  std::string many = "a=1";
  for (int i = 0; i < 128; ++i) many += ",b" + std::to_string(i) + "=1";
  EXPECT_EQ(problem({}, {}, {.resource_attributes = many}),
            "--otlp: more than 128 attributes are given");
}

Pairs headers(const std::vector<std::string>& given, const OtelVariables& variables) {
  const ParsedNameValues merged = request_headers(given, variables);
  EXPECT_EQ(merged.problem, "");
  return merged.pairs;
}

TEST(OtelSettings, HeadersOfTheOptionThenOfProfilesThenOfAllSignals) {
  OtelVariables variables{.headers = "api-key=all,other=%20x"};
  EXPECT_EQ(headers({}, variables), (Pairs{{"api-key", "all"}, {"other", " x"}}));
  variables.profiles_headers = "api-key=profiles";
  EXPECT_EQ(headers({}, variables), (Pairs{{"api-key", "profiles"}}));
  EXPECT_EQ(headers({"API-Key=given", "b=%"}, variables),
            (Pairs{{"API-Key", "given"}, {"b", "%"}}));
}

// The value may be a key, so the message must not show it.
TEST(OtelSettings, HeadersThatMakeNoSense) {
  const auto problem = [](const std::vector<std::string>& given, const OtelVariables& variables) {
    const std::string its = request_headers(given, variables).problem;
    EXPECT_EQ(its.find("secret"), its.npos) << its;
    return its;
  };
  EXPECT_EQ(problem({"secret"}, {}), "--otlp-header: what is given is not NAME=VALUE");
  EXPECT_EQ(problem({}, {.headers = "a=secret%"}),
            "OTEL_EXPORTER_OTLP_HEADERS: it is not a list of NAME=VALUE");
  EXPECT_EQ(problem({}, {.headers = "a=b", .profiles_headers = "secret"}),
            "OTEL_EXPORTER_OTLP_PROFILES_HEADERS: it is not a list of NAME=VALUE");
  for (const char* name : {"a b", "a:", "\xc3\xa4", "a\r\nb", "Authorization: Basic secret"}) {
    EXPECT_EQ(problem({std::string(name) + "=secret"}, {}),
              "--otlp-header: a header has a name that HTTP does not allow");
  }
  for (const char* value : {"secret\r\nX: y", "secret%0d%0aX: y", "\xc3\xa4", "%00", "%7f"}) {
    EXPECT_EQ(problem({}, {.headers = std::string("a=") + value}),
              "OTEL_EXPORTER_OTLP_HEADERS: the header \"a\" has a value that HTTP does not allow");
  }
  for (const char* name : {"Host", "content-length", "Transfer-Encoding", "Content-Type"}) {
    EXPECT_EQ(problem({}, {.headers = std::string(name) + "=secret"}),
              std::string("OTEL_EXPORTER_OTLP_HEADERS: the header \"") + name +
                  "\" is set by mixwalk itself");
  }
}

}  // namespace
}  // namespace mixwalk
