#include "walker/cli/options/thread_selection.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(ThreadSelection, AnIdIsDecimalOrAsMixwalkPrintsIt) {
  EXPECT_EQ(parse_id("1364"), 1364u);
  EXPECT_EQ(parse_id("0x554"), 1364u);
  EXPECT_EQ(parse_id("0X55a"), 0x55au);
  EXPECT_EQ(parse_id("010"), 10u) << "decimal, not octal";
  for (const char* text : {"", "0", "0x", "0x0", "4294967296", "0x100000000", "-1", "12x", "x12"}) {
    EXPECT_FALSE(parse_id(text)) << text;
  }
}

TEST(ThreadSelection, ANumberIsNoName) {
  for (const char* text : {"0", "99999999999", "0x100000000"}) {
    EXPECT_TRUE(is_written_as_id(text)) << text;
  }
  for (const char* text : {"", "0x", "12x", "worker 1", "0xworker"}) {
    EXPECT_FALSE(is_written_as_id(text)) << text;
  }
}

TEST(ThreadSelection, ByIdOrByTheBeginningOfTheName) {
  const ThreadSelection none, some{.ids = {7}, .names = {"Ada"}};
  EXPECT_TRUE(none.contains(1, ""));
  EXPECT_TRUE(some.contains(7, "Bob"));
  EXPECT_TRUE(some.contains(8, "Ada Lovelace"));
  EXPECT_FALSE(some.contains(8, "my Ada"));
  EXPECT_FALSE(some.contains(8, "ada"));
}

TEST(ThreadSelection, MainMeansTheMainThreadToo) {
  const ThreadSelection main{.ids = {}, .names = {"main"}};
  EXPECT_TRUE(main.has_main());
  EXPECT_TRUE(main.contains(8, "main loop"));
  EXPECT_FALSE(main.contains(8, "ui"));
  EXPECT_FALSE((ThreadSelection{.ids = {}, .names = {"mainly"}}).has_main());
  UnmatchedThreads unmatched(main);
  unmatched.met(8, "ui");
  EXPECT_FALSE(unmatched.empty());
  unmatched.met_main();
  EXPECT_TRUE(unmatched.empty());
}

TEST(ThreadSelection, WhatWasNotMetIsSaid) {
  UnmatchedThreads unmatched({.ids = {0x554, 7}, .names = {"Ada", "Bob"}});
  unmatched.met(7, "Ada Lovelace");
  EXPECT_FALSE(unmatched.empty());
  EXPECT_EQ(unmatched.text(), "thread 0x554, thread whose name begins with \"Bob\"");
  unmatched.met(0x554, "Bob");
  EXPECT_TRUE(unmatched.empty());
}

TEST(UnmatchedThreadsTest, AdvisesTheNameThatWasMeant) {
  UnmatchedThreads unmatched({.names = {"Reserving"}});
  EXPECT_EQ(unmatched.advice(), "; without --thread, mixwalk takes all threads");
  unmatched.met(1, "charging");
  unmatched.met(2, "reserving");
  EXPECT_EQ(unmatched.advice(), "; did you mean \"reserving\"?");
}

}  // namespace
}  // namespace mixwalk
