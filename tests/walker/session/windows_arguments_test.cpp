#include "walker/session/windows_arguments.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(WindowsArguments, QuotedOnlyWhereNeeded) {
  EXPECT_EQ(join_windows_arguments({"a.exe", "--port", "8080"}), "a.exe --port 8080");
  EXPECT_EQ(join_windows_arguments({"C:\\Program Files\\a.exe"}), "\"C:\\Program Files\\a.exe\"");
  EXPECT_EQ(join_windows_arguments({"a.exe", ""}), "a.exe \"\"");
}

TEST(WindowsArguments, QuotesAndBackslashes) {
  EXPECT_EQ(join_windows_arguments({"x", "say \"hi\""}), "x \"say \\\"hi\\\"\"");
  EXPECT_EQ(join_windows_arguments({"x", "a b\\"}), "x \"a b\\\\\"") << "before the closing quote";
  EXPECT_EQ(join_windows_arguments({"x", "a\\\\b c"}), "x \"a\\\\b c\"");
  EXPECT_EQ(join_windows_arguments({"x", "\\\""}), "x \"\\\\\\\"\"");
  EXPECT_EQ(join_windows_arguments({"x", "C:\\dir\\"}), "x C:\\dir\\");
}

}  // namespace
}  // namespace mixwalk
