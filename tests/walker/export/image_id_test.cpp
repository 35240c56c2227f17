#include "walker/export/image_id.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(ImageId, IsTheTimestampAndTheSize) {
  EXPECT_EQ(code_id({.size = 0x9'0000, .timestamp = 0x65f0'00ab}), "65F000AB90000");
  EXPECT_EQ(code_id({.size = 0x1'abcd, .timestamp = 0x1f}), "0000001F1abcd");
}

TEST(ImageId, OfNothingIsNothing) { EXPECT_EQ(code_id({}), ""); }

}  // namespace
}  // namespace mixwalk
