#include "unmanaged/win/context.h"

#include <gtest/gtest.h>

#include <cstring>

namespace mixwalk {
namespace {

// The flags are those of an exception's record on a processor with AVX.
TEST(ContextCopyTest, NeverSaysThatItHasAnExtendedPart) {
  CONTEXT record;
  std::memset(&record, 0x5A, sizeof record);
  record.ContextFlags = 0x10005F;
  const ContextCopy copy(record);
  EXPECT_EQ(copy.ContextFlags, 0x10001Fu);
  record.ContextFlags = 0x10001F;
  EXPECT_EQ(std::memcmp(static_cast<const CONTEXT*>(&copy), &record, sizeof record), 0);
  EXPECT_EQ(ContextCopy(copy).ContextFlags, 0x10001Fu);
}

}  // namespace
}  // namespace mixwalk
