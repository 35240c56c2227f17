#include "walker/cli/output/frozen_words.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(StoodFor, TheUnitFitsTheTime) {
  EXPECT_EQ(frozen_words(400'000, false), "stood for 0.4 ms");
  EXPECT_EQ(frozen_words(9'960'000, false), "stood for 10 ms");
  EXPECT_EQ(frozen_words(38'200'000, false), "stood for 38 ms");
  EXPECT_EQ(frozen_words(999'600'000, false), "stood for 1.0 s");
  EXPECT_EQ(frozen_words(2'449'000'000, false), "stood for 2.4 s");
}

TEST(StoodFor, AClone) {
  EXPECT_EQ(frozen_words(38'200'000, true), "stood for 38 ms (a clone was written)");
}

}  // namespace
}  // namespace mixwalk
