#include "walker/export/json_writer.h"

#include <gtest/gtest.h>

#include "tests/support/full_sink.h"

namespace mixwalk {
namespace {

TEST(JsonWriter, CommasStandBetweenValuesOnly) {
  StringSink sink;
  JsonWriter json(sink);
  json.begin_object();
  json.key("empty");
  json.begin_array();
  json.end_array();
  json.key("values");
  json.begin_array();
  json.value(true);
  json.literal("null");
  json.begin_object();
  json.end_object();
  json.value("x");
  json.end_array();
  json.field("last", 1);
  json.end_object();
  EXPECT_TRUE(json.finish());
  EXPECT_EQ(sink.text, R"({"empty":[],"values":[true,null,{},"x"],"last":1})" "\n");
}

TEST(JsonWriter, IntegersKeepAllTheirDigits) {
  StringSink sink;
  JsonWriter json(sink);
  json.begin_array();
  json.value(UINT64_MAX);
  json.value(INT64_MIN);
  json.end_array();
  EXPECT_TRUE(json.finish());
  EXPECT_EQ(sink.text, "[18446744073709551615,-9223372036854775808]\n");
}

TEST(JsonWriter, TextIsPrintableAscii) {
  StringSink sink;
  JsonWriter json(sink);
  json.value("\"\\\n\u00fc\xff\x1b");
  EXPECT_TRUE(json.finish());
  EXPECT_EQ(sink.text, R"("\"\\\n\u00fc\ufffd\u001b")" "\n");
}

TEST(JsonWriter, SaysWhenSomethingWasLostOnTheWay) {
  FullSink sink(1);
  JsonWriter json(sink);
  for (int i = 0; i < 3; ++i) json.value(std::string(100'000, 'x'));
  EXPECT_FALSE(json.finish());
}

}  // namespace
}  // namespace mixwalk
