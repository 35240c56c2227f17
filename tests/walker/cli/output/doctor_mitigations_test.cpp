#include "walker/cli/output/doctor_report.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(MitigationLines, OfAProcessThatRefusesTheLibrary) {
  const auto lines = mitigation_lines({.signature = 1, .control_flow_guard = 4, .shadow_stack = 1});
  ASSERT_EQ(lines.size(), 3u);
  for (const DoctorLine& line : lines) EXPECT_EQ(line.check, "mitigation policies");
  EXPECT_EQ(lines[0].state, DoctorLine::State::bad);
  EXPECT_EQ(lines[0].code, ExitCode::refused);
  EXPECT_NE(lines[0].found.find("MicrosoftSignedOnly"), std::string::npos);
  EXPECT_EQ(lines[1].state, DoctorLine::State::bad);
  EXPECT_NE(lines[1].found.find("Control Flow Guard (StrictMode)"), std::string::npos);
  EXPECT_EQ(lines[2].state, DoctorLine::State::note);
  EXPECT_EQ(lines[2].code, ExitCode::ok);
  EXPECT_EQ(failure_of({.lines = lines})->code, ExitCode::refused);
}

TEST(MitigationLines, OfAProcessThatAllowsTheLibrary) {
  const auto none = mitigation_lines({.signature = 0});
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].state, DoctorLine::State::good);
  EXPECT_EQ(none[0].found, "none keeps mixwalk.dll out");
  const auto others = mitigation_lines({.signature = 0, .control_flow_guard = 1});
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].found, "none keeps mixwalk.dll out (switched on: Control Flow Guard)");
}

TEST(MitigationLines, OfASystemThatTellsNothing) { EXPECT_TRUE(mitigation_lines({}).empty()); }

}  // namespace
}  // namespace mixwalk
