#include "walker/base/near_match.h"

#include <gtest/gtest.h>

#include <vector>

namespace mixwalk {
namespace {

TEST(TypingDistance, CountsEachMistakeOnce) {
  EXPECT_EQ(typing_distance("dump", "dump"), 0u);
  EXPECT_EQ(typing_distance("dump", "Dump"), 0u) << "upper and lower case";
  EXPECT_EQ(typing_distance("dupm", "dump"), 1u) << "exchanged with a neighbour";
  EXPECT_EQ(typing_distance("dum", "dump"), 1u) << "missing";
  EXPECT_EQ(typing_distance("dumpp", "dump"), 1u) << "superfluous";
  EXPECT_EQ(typing_distance("dumb", "dump"), 1u) << "wrong";
  EXPECT_EQ(typing_distance("ca", "abc"), 3u) << "each letter is exchanged at most once";
  EXPECT_EQ(typing_distance("", "dump"), 4u);
  EXPECT_EQ(typing_distance("", ""), 0u);
}

TEST(TypingDistance, LongTextsAreNotCompared) {
  const std::string at_most(64, 'a');
  EXPECT_EQ(typing_distance(at_most, at_most), 0u);
  EXPECT_EQ(typing_distance(at_most + "a", at_most), 65u);
  EXPECT_EQ(typing_distance("a", std::string(1'000'000, 'a')), 1'000'000u);
}

TEST(NearMatch, IsTheNearestWord) {
  const std::vector<std::string> words = {"ps", "dump", "record", "report", "symbolise"};
  EXPECT_EQ(near_match("dmup", words), "dump");
  EXPECT_EQ(near_match("recrod", words), "record");
  EXPECT_EQ(near_match("reprot", words), "report");
  EXPECT_EQ(near_match("symbolize", words), "symbolise");
  EXPECT_EQ(near_match("PS", words), "ps");
}

TEST(NearMatch, IsTheOnlyWordThatBeginsSo) {
  const std::vector<std::string> words = {"orders-demo", "ordinary", "payments"};
  EXPECT_EQ(near_match("orders", words), "orders-demo");
  EXPECT_EQ(near_match("Pay", words), "payments");
  EXPECT_EQ(near_match("ord", words), "") << "two begin so";
  EXPECT_EQ(near_match("p", words), "") << "one letter says too little";
}

TEST(NearMatch, IsNothingForAnotherWord) {
  const std::vector<std::string> words = {"ps", "dump", "record"};
  for (const char* text : {"", "list", "xs", "install", "dd"}) EXPECT_EQ(near_match(text, words), "") << text;
  EXPECT_EQ(near_match("dump", {}), "");
}

}  // namespace
}  // namespace mixwalk
