#include "walker/clr/tasks/state_machine_name.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(StateMachineName, MethodsOfMachines) {
  EXPECT_EQ(method_of_state_machine("P+<Outer>d__3"), "P.Outer()");
  EXPECT_EQ(method_of_state_machine("Ns.P+Q+<Outer>d__13"), "Ns.P+Q.Outer()");
  EXPECT_EQ(method_of_state_machine("<Outer>d__3"), "Outer()");
  EXPECT_EQ(method_of_state_machine("P<System.Int32>+<Outer>d__3<System.String>"), "P<System.Int32>.Outer<System.String>()");
  // A lambda, and a local function.
  EXPECT_EQ(method_of_state_machine("P+<>c+<<Main>b__0_1>d"), "P+<>c.<Main>b__0_1()");
  EXPECT_EQ(method_of_state_machine("P+<<Main>g__Local|0_0>d"), "P.<Main>g__Local|0_0()");
  EXPECT_EQ(method_of_state_machine("P+VB$StateMachine_3_Outer"), "P.Outer()");
}

TEST(StateMachineName, OtherTypes) {
  for (const char* type : {"", "P", "P+Q", "P+<>c", "P+<>c__DisplayClass3_0", "P+<Outer>e__FixedBuffer", "P+<Outer", "P+<>d",
                           "P+VB$StateMachine_", "P+VB$StateMachine_3", "System.Collections.Generic.List<P+<Outer>d__3>",
                           "><", "+", ">>>+<<<"}) {
    EXPECT_EQ(method_of_state_machine(type), "") << type;
    EXPECT_FALSE(is_state_machine(type)) << type;
  }
}

TEST(StateMachineName, SharedCodeIsOfTheSameMachine) {
  EXPECT_TRUE(is_same_machine("P+<Do>d__1<System.__Canon>", "P+<Do>d__1<System.String>"));
  EXPECT_TRUE(is_same_machine("P<System.__Canon>+<Do>d__1", "P<System.String>+<Do>d__1"));
  EXPECT_FALSE(is_same_machine("P+<Do>d__1", "P+<Do>d__2"));
  EXPECT_FALSE(is_same_machine("P+<Do>d__1", "Q+<Do>d__1"));
  EXPECT_FALSE(is_same_machine("P", "P"));
}

}  // namespace
}  // namespace mixwalk
