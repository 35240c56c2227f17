#include "walker/session/pipe_security.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

const std::string kAda = "S-1-5-21-1-2-3-1001", kBen = "S-1-5-21-1-2-3-1002";
const std::string kLogon = "S-1-5-5-0-70001";

TEST(PipeSecurity, TheSameUser) {
  EXPECT_EQ(pipe_sddl(kAda, {.user = kAda, .logon = kLogon}),
            "D:P(A;;GA;;;S-1-5-21-1-2-3-1001)");
}

TEST(PipeSecurity, AnotherUser) {
  EXPECT_EQ(pipe_sddl(kAda, {.user = kBen, .logon = kLogon}),
            "D:P(A;;GA;;;S-1-5-21-1-2-3-1001)"
            "(A;;GRGW;;;S-1-5-21-1-2-3-1002)(A;;GRGW;;;S-1-5-5-0-70001)");
}

TEST(PipeSecurity, AServiceOfLocalSystem) {
  EXPECT_EQ(pipe_sddl(kAda, {.user = "S-1-5-18", .integrity = 0x4000}),
            "D:P(A;;GA;;;S-1-5-21-1-2-3-1001)(A;;GRGW;;;S-1-5-18)");
}

TEST(PipeSecurity, AServiceOfNetworkService) {
  EXPECT_EQ(pipe_sddl(kAda, {.user = "S-1-5-20", .logon = "S-1-5-5-0-996", .integrity = 0x4000}),
            "D:P(A;;GA;;;S-1-5-21-1-2-3-1001)(A;;GRGW;;;S-1-5-20)(A;;GRGW;;;S-1-5-5-0-996)");
}

TEST(PipeSecurity, AnApplicationPool) {
  EXPECT_EQ(pipe_sddl(kAda, {.user = "S-1-5-82-1-2-3-4-5",
                             .logon = "S-1-5-5-0-9",
                             .integrity = 0x3000}),
            "D:P(A;;GA;;;S-1-5-21-1-2-3-1001)(A;;GRGW;;;S-1-5-82-1-2-3-4-5)"
            "(A;;GRGW;;;S-1-5-5-0-9)");
}

TEST(PipeSecurity, AnAppContainerOfTheSameUser) {
  EXPECT_EQ(pipe_sddl(kAda, {.user = kAda,
                             .logon = kLogon,
                             .app_container = "S-1-15-2-1-2-3-4-5-6-7",
                             .integrity = 0x1000}),
            "D:P(A;;GA;;;S-1-5-21-1-2-3-1001)(A;;GRGW;;;S-1-15-2-1-2-3-4-5-6-7)"
            "S:(ML;;NW;;;S-1-16-4096)");
}

TEST(PipeSecurity, ARestrictedTokenOfTheSameUser) {
  EXPECT_EQ(pipe_sddl(kAda, {.user = kAda, .logon = kLogon, .restricted = true, .integrity = 0}),
            "D:P(A;;GA;;;S-1-5-21-1-2-3-1001)(A;;GRGW;;;S-1-5-5-0-70001)"
            "S:(ML;;NW;;;S-1-16-0)");
}

// mixwalk runs as a service and walks a user's program.
TEST(PipeSecurity, LocalSystemLooksAtAUser) {
  EXPECT_EQ(pipe_sddl("S-1-5-18", {.user = kAda, .logon = kLogon}),
            "D:P(A;;GA;;;S-1-5-18)(A;;GRGW;;;S-1-5-21-1-2-3-1001)(A;;GRGW;;;S-1-5-5-0-70001)");
}

// No group with many members is admitted, whatever the target is.
TEST(PipeSecurity, NoBroadGroup) {
  const TokenFacts targets[] = {{.user = kAda},
                                {.user = kBen, .logon = kLogon},
                                {.user = "S-1-5-18"},
                                {.user = "S-1-5-19", .logon = kLogon, .restricted = true},
                                {.user = kBen, .app_container = "S-1-15-2-9", .integrity = 0}};
  for (const TokenFacts& target : targets) {
    const std::string sddl = pipe_sddl(kAda, target);
    for (const char* group : {"S-1-1-0)", "S-1-5-11)", "S-1-5-32-", "S-1-15-2-1)", "S-1-5-4)",
                              "S-1-5-6)", "S-1-5-12)", ";WD)", ";BA)", ";AU)", ";AC)", ";RC)"}) {
      EXPECT_EQ(sddl.find(group), std::string::npos) << sddl << " has " << group;
    }
  }
}

}  // namespace
}  // namespace mixwalk
