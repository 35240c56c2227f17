#include "walker/cli/output/stood_for.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(StoodFor, TheUnitFitsTheTime) {
  EXPECT_EQ(stood_for(400'000, false), "stood for 0.4 ms");
  EXPECT_EQ(stood_for(9'960'000, false), "stood for 10 ms");
  EXPECT_EQ(stood_for(38'200'000, false), "stood for 38 ms");
  EXPECT_EQ(stood_for(999'600'000, false), "stood for 1.0 s");
  EXPECT_EQ(stood_for(2'449'000'000, false), "stood for 2.4 s");
}

TEST(StoodFor, AClone) {
  EXPECT_EQ(stood_for(38'200'000, true), "stood for 38 ms (a clone was written)");
}

}  // namespace
}  // namespace mixwalk
