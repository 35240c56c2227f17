#include "walker/export/words.h"

#include <gtest/gtest.h>

#include <set>

namespace mixwalk {
namespace {

TEST(Words, EveryReasonHasAKeyAndASentenceOfItsOwn) {
  std::set<std::string_view> keys, sentences;
  constexpr int kReasons = static_cast<int>(OpenReason::stack_cut) + 1;
  for (int i = 0; i < kReasons; ++i) {
    keys.insert(key(static_cast<OpenReason>(i)));
    sentences.insert(sentence(static_cast<OpenReason>(i)));
  }
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(kReasons));
  EXPECT_EQ(sentences.size(), static_cast<std::size_t>(kReasons));
  EXPECT_FALSE(keys.contains(""));
  EXPECT_FALSE(sentences.contains(""));
}

TEST(Words, ARunThatClosedOnTheStackPointerIsClosed) {
  EXPECT_EQ(key(RunEnd::closed_rsp), key(RunEnd::closed));
}

}  // namespace
}  // namespace mixwalk
