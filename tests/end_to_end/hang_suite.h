#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/win/child_process.h"

namespace mixwalk {

// hang.exe, started once for all cases of a suite.
class HangSuite : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    hang_.emplace(std::vector<std::string>{fixture("hang.exe")});
    ASSERT_TRUE(hang_->read_line().value_or("").starts_with("READY"));
  }
  static void TearDownTestSuite() {
    hang_->write_line("STOP");
    EXPECT_EQ(hang_->wait(20'000), 0u);
    hang_.reset();
  }

  static inline std::optional<ChildProcess> hang_;
};

}  // namespace mixwalk
