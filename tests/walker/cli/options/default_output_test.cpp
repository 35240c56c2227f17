#include "walker/cli/options/default_output.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

std::tm moment() {
  std::tm when{};
  when.tm_year = 126, when.tm_mon = 10, when.tm_mday = 21;
  when.tm_hour = 17, when.tm_min = 7, when.tm_sec = 21;
  return when;
}

std::string named(const std::string& program, const std::string& format = "mixwalk") {
  return default_output(program, moment(), *format_by_name(format));
}

TEST(DefaultOutput, TheProgramAndTheTime) {
  EXPECT_EQ(named("orders"), "orders-20261121-170721.mixwalk");
  EXPECT_EQ(named("C:\\orders\\Orders.EXE"), "Orders-20261121-170721.mixwalk");
  EXPECT_EQ(named("../bin/orders.exe"), "orders-20261121-170721.mixwalk");
  EXPECT_EQ(named("orders", "speedscope"), "orders-20261121-170721.speedscope.json");
  EXPECT_EQ(named("orders", "collapsed-plain"), "orders-20261121-170721.collapsed-plain");
}

TEST(DefaultOutput, AnyNameOfAProgramIsANameOfAFile) {
  EXPECT_EQ(named(""), "recording-20261121-170721.mixwalk");
  EXPECT_EQ(named(".exe"), "recording-20261121-170721.mixwalk");
  EXPECT_EQ(named("a:b*?\"<>|\n\x7f"), "a_b________-20261121-170721.mixwalk");
  EXPECT_EQ(named("\xc3\xb6rders"), "\xc3\xb6rders-20261121-170721.mixwalk");
  EXPECT_LT(named(std::string(10'000, 'a')).size(), 200u);
}

TEST(DefaultOutput, ANameThatIsTakenGetsANumber) {
  EXPECT_EQ(numbered_output("a-1.speedscope.json", *format_by_name("speedscope"), 2),
            "a-1-2.speedscope.json");
}

}  // namespace
}  // namespace mixwalk
