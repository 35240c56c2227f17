#include "walker/base/printable.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

std::string shown(std::string_view text) { return printable(text, 1000); }

TEST(Printable, WhatPeopleWriteStays) {
  for (const char* text : {"", "Orders.Client.Fetch(System.String)", "C:\\orders", "Grüße", "日本",
                           "\U0001F41B", "\u00A0"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(Printable, ControlsAreEscaped) {
  EXPECT_EQ(shown("a\nb\x1b[2J\x7f"), "a\\x0ab\\x1b[2J\\x7f");
  EXPECT_EQ(shown(std::string_view("\0", 1)), "\\x00");
  // In UTF-8 the one-byte CSI becomes two bytes, and terminals obey it.
  EXPECT_EQ(shown("\u0080\u009B31m\u009F"), "\\u0080\\u009b31m\\u009f");
}

TEST(Printable, MarksThatReorderALineAreEscaped) {
  EXPECT_EQ(shown("\u202Egpj.exe"), "\\u202egpj.exe");
  EXPECT_EQ(shown("\u200E\u200F\u061C\u2028\u2066\u2069\uFEFF"),
            "\\u200e\\u200f\\u061c\\u2028\\u2066\\u2069\\ufeff");
}

TEST(Printable, WhatIsNoUtf8IsBytes) {
  EXPECT_EQ(shown("\x80\xff"), "\\x80\\xff");
  EXPECT_EQ(shown("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(shown("\xc3("), "\\xc3(");
  EXPECT_EQ(shown("\xc0\x9b"), "\\xc0\\x9b") << "overlong";
  EXPECT_EQ(shown("\xe0\x82\x9b"), "\\xe0\\x82\\x9b") << "overlong";
  EXPECT_EQ(shown("\xf0\x80\x82\x9b"), "\\xf0\\x80\\x82\\x9b") << "overlong";
  EXPECT_EQ(shown("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(shown("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "past U+10FFFF";
}

TEST(Printable, NothingIsCutInTheMiddle) {
  EXPECT_EQ(printable("abcd", 4), "abcd");
  EXPECT_EQ(printable("abcde", 4), "abcd…");
  EXPECT_EQ(printable("abcü", 4), "abc…");
  EXPECT_EQ(printable("a\x1b", 4), "a…");
  EXPECT_EQ(printable(std::string(100'000, '\x80'), 9), "\\x80\\x80…");
}

}  // namespace
}  // namespace mixwalk
