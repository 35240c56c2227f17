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
  static void TearDownTestSuite() { stop(20'000); }
  static void stop(DWORD milliseconds) {
    hang_->write_line("STOP");
    EXPECT_EQ(hang_->wait(milliseconds), 0u);
    hang_.reset();
  }

  static inline std::optional<ChildProcess> hang_;
};

}  // namespace mixwalk
