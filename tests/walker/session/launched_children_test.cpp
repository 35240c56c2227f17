#include "walker/session/launched_children.h"

#include <gtest/gtest.h>

#include <vector>

namespace mixwalk {
namespace {

using Kind = LaunchedChild::Kind;

TEST(ChildrenText, TheOneWithTheRuntimeIsNamed) {
  const std::vector<LaunchedChild> children = {{44, "orders.exe", Kind::dotnet},
                                               {48, "x86.exe", Kind::bits32}};
  EXPECT_EQ(children_text(children),
            ": its child process 44 (orders.exe) has the .NET runtime: look at it with -p 44");
}

TEST(ChildrenText, OfSeveral) {
  const std::vector<LaunchedChild> children = {{40, "a.exe", Kind::dotnet}, {44, "", Kind::dotnet}};
  EXPECT_EQ(children_text(children),
            ": its child processes 40 (a.exe) and 44 have the .NET runtime: look at it with -p and one of these ids");
  const std::vector<LaunchedChild> many(1000, {40, "a.exe", Kind::dotnet});
  EXPECT_NE(children_text(many).find(", … have"), std::string::npos);
}

TEST(ChildrenText, OfOtherKinds) {
  EXPECT_EQ(children_text({}), "");
  EXPECT_EQ(children_text(std::vector<LaunchedChild>{{40, "a.exe", Kind::bits32}}),
            ": its child process 40 (a.exe) is a 32-bit process; mixwalk walks x64 only");
  EXPECT_EQ(children_text(std::vector<LaunchedChild>{{40, "a.exe", Kind::native_aot}}),
            ": its child process 40 (a.exe) is NativeAOT: look at it with -p 40");
}

}  // namespace
}  // namespace mixwalk
