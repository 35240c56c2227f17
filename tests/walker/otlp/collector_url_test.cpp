#include "walker/otlp/collector_url.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

std::string read(std::string_view url) {
  const ParsedUrl parsed = parse_collector_url(url);
  EXPECT_TRUE(parsed.url) << url << ": " << parsed.problem;
  return parsed.url ? text(*parsed.url) : "";
}

std::string problem(std::string_view url) {
  const ParsedUrl parsed = parse_collector_url(url);
  EXPECT_FALSE(parsed.url) << url;
  return parsed.problem;
}

TEST(CollectorUrl, HasItsDefaults) {
  EXPECT_EQ(read("http://localhost"), "http://localhost:4318/v1development/profiles");
  EXPECT_EQ(read("HTTP://LocalHost/"), "http://localhost:4318/v1development/profiles");
}

TEST(CollectorUrl, EveryPart) {
  EXPECT_EQ(read("http://otel_1.example.com:65535/x/%41;a=1"),
            "http://otel_1.example.com:65535/x/%41;a=1");
  EXPECT_EQ(read("http://10.0.0.1:1"), "http://10.0.0.1:1/v1development/profiles");
}

TEST(CollectorUrl, AnIPv6AddressStandsInBrackets) {
  EXPECT_EQ(parse_collector_url("http://[FE80::1]").url->host, "fe80::1");
  EXPECT_EQ(read("http://[::ffff:10.0.0.1]:80/a"), "http://[::ffff:10.0.0.1]:80/a");
  for (const char* url : {"http://[", "http://[]", "http://[::1", "http://[::1]80", "http://[1]",
                          "http://[::1%25eth0]", "http://[x::1]"}) {
    EXPECT_EQ(problem(url), "the IPv6 address of the URL is not valid") << url;
  }
  EXPECT_EQ(problem("http://::1"), "the URL has no host");
}

TEST(CollectorUrl, OnlyHttp) {
  EXPECT_TRUE(problem("https://localhost").starts_with("https is not supported"));
  for (const char* url :
       {"", "localhost:4318", "http:/localhost", "ftp://localhost", "http:", " http://localhost"}) {
    EXPECT_EQ(problem(url), "the URL must begin with http://") << url;
  }
}

TEST(CollectorUrl, WhatAHostileOneHas) {
  EXPECT_EQ(problem("http://"), "the URL has no host");
  EXPECT_EQ(problem("http://:4318"), "the URL has no host");
  EXPECT_EQ(problem("http:///path"), "the URL has no host");
  EXPECT_EQ(problem("http://user:secret@localhost"), "the URL must not have a user or a password");
  EXPECT_EQ(problem("http://a/?b"), "the URL must not have a query or a fragment");
  EXPECT_EQ(problem("http://a/#b"), "the URL must not have a query or a fragment");
  for (const char* port : {"", "0", "65536", "-1", "+1", "1x", " 1", "99999999999999999999"}) {
    EXPECT_EQ(problem(std::string("http://a:") + port),
              "the port of the URL must be from 1 to 65535")
        << port;
  }
  EXPECT_EQ(problem("http://a\r\nX: y"), "the host of the URL is not valid");
  EXPECT_EQ(problem("http://a b"), "the host of the URL is not valid");
  EXPECT_EQ(problem("http://\xc3\xa4"), "the host of the URL is not valid");
  for (const char* path : {"a\r\nX: y", "a b", "%", "%4", "%4g", "\xc3\xa4", "\x7f", "a\\b"}) {
    EXPECT_EQ(problem(std::string("http://a/") + path), "the path of the URL is not valid")
        << path;
  }
  EXPECT_EQ(problem(std::string_view("http://a/\0", 10)), "the path of the URL is not valid");
  EXPECT_EQ(problem("http://" + std::string(254, 'a')), "the host of the URL is too long");
  EXPECT_EQ(problem("http://a/" + std::string(2000, 'a')), "the URL is too long");
}

}  // namespace
}  // namespace mixwalk
