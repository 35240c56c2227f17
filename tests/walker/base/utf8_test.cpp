#include "walker/base/utf8.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(Utf8, ValidTextStays) {
  for (const char* text : {"", "a", "\u00fc", "\u65e5\u672c", "\U0001F41B", "\U0010FFFF"}) {
    EXPECT_EQ(valid_utf8(text), text);
  }
}

TEST(Utf8, EveryByteOfNoCharacterIsReplaced) {
  EXPECT_EQ(valid_utf8("a\x80""b\xff"), "a\uFFFDb\uFFFD");
  EXPECT_EQ(valid_utf8("\xc3"), "\uFFFD") << "cut off";
  EXPECT_EQ(valid_utf8("\xe2\x82("), "\uFFFD\uFFFD(");
  EXPECT_EQ(valid_utf8("\xc0\x9b"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "past U+10FFFF";
}

TEST(Utf8, TextsAreCutBetweenCharacters) {
  EXPECT_EQ(cut_text("abc", 3), "abc");
  EXPECT_EQ(cut_text("abc", 2), "ab");
  EXPECT_EQ(cut_text("a\xC3\xBC", 2), "a");
  EXPECT_EQ(cut_text("\x80\x80", 1), "");
}

}  // namespace
}  // namespace mixwalk
