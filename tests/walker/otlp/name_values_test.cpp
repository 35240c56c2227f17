#include "walker/otlp/name_values.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

using Pairs = std::vector<NameValue>;

Pairs read(std::string_view text) {
  const ParsedNameValues parsed = parse_name_values(text);
  EXPECT_EQ(parsed.problem, "") << text;
  return parsed.pairs;
}

std::string problem(std::string_view text) {
  const ParsedNameValues parsed = parse_name_values(text);
  EXPECT_TRUE(parsed.pairs.empty()) << text;
  return parsed.problem;
}

TEST(NameValues, AList) {
  EXPECT_EQ(read("a=1"), (Pairs{{"a", "1"}}));
  EXPECT_EQ(read(" a = 1 ,\tb.c=2 3 "), (Pairs{{"a", "1"}, {"b.c", "2 3"}}));
  EXPECT_EQ(read("a=,b=x=y"), (Pairs{{"a", ""}, {"b", "x=y"}}));
  EXPECT_EQ(read(""), Pairs{});
  EXPECT_EQ(read(" \t"), Pairs{});
}

TEST(NameValues, PercentIsDecodedInNamesAndValues) {
  EXPECT_EQ(read("a%2Cb=%3d%2c%25,k=%C3%a4+b"), (Pairs{{"a,b", "=,%"}, {"k", "\xc3\xa4+b"}}));
  EXPECT_EQ(read("a=%20b%20"), (Pairs{{"a", " b "}})) << "what is encoded is not trimmed";
}

TEST(NameValues, OfOneNameTheLastCounts) {
  EXPECT_EQ(read("a=1,b=2,a=3"), (Pairs{{"b", "2"}, {"a", "3"}}));
}

TEST(NameValues, OneErrorSpoilsTheList) {
  EXPECT_EQ(problem("a=1,b"), "\"b\" has no \"=\"");
  EXPECT_EQ(problem("a=1,"), "\"\" has no \"=\"");
  EXPECT_EQ(problem(","), "\"\" has no \"=\"");
  EXPECT_EQ(problem("=1"), "\"=1\" has no name");
  EXPECT_EQ(problem(" =1"), "\"=1\" has no name");
  for (const char* value : {"%", "%4", "%4g", "%g4", "%-1", "%+1", "% 1", "%ff", "\xff"}) {
    EXPECT_EQ(problem(std::string("a=") + value),
              std::string("\"a=") + value + "\" is not percent-encoded UTF-8");
  }
  EXPECT_EQ(problem("a=" + std::string(40'000, 'b')), "the list is too long");
}

TEST(NameValues, OfTheCommandLineAreTakenAsTheyAre) {
  EXPECT_EQ(parse_name_value("a= %41,b=c "), (NameValue{"a", " %41,b=c "}));
  EXPECT_EQ(parse_name_value("a="), (NameValue{"a", ""}));
  for (const char* text : {"", "a", "=", "=b", "a=\xff"}) EXPECT_FALSE(parse_name_value(text));
}

}  // namespace
}  // namespace mixwalk
