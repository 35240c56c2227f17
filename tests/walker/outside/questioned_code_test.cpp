#include "walker/outside/questioned_code.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clr_questions.h"

namespace mixwalk {
namespace {

TEST(QuestionedCodeTest, MethodsStubsAndWhatIsNeither) {
  test::FakeClrQuestions clr;
  clr.add_code({.method = 0x10, .start = 0x1000, .hot_bytes = 0x100});
  clr.add_code({.method = 0x20, .start = 0x2000, .hot_bytes = 0x100});
  clr.add_method(0x10, {"A.B()", false});
  clr.add_method(0x20, {"IL_STUB_PInvoke", true});
  QuestionedCode code(clr);
  EXPECT_EQ(code.at(0x1080).id, 0x10u);
  EXPECT_FALSE(code.at(0x1080).stub);
  EXPECT_TRUE(code.at(0x20FF).stub);
  EXPECT_EQ(code.at(0x2100).id, 0u);
}

TEST(QuestionedCodeTest, NamesOfFrames) {
  test::FakeClrQuestions clr;
  clr.add_method(0x10, {"A.B()", false});
  Snapshot snapshot;
  snapshot.threads.resize(1);
  snapshot.threads[0].stack.frames.resize(3);
  snapshot.threads[0].stack.frames[0].name = "NtWait";
  snapshot.threads[0].stack.frames[1].function = 0x10;
  snapshot.threads[0].stack.frames[2].function = 0x99;
  name_functions(snapshot, clr);
  EXPECT_EQ(snapshot.threads[0].stack.frames[0].name, "NtWait");
  EXPECT_EQ(snapshot.threads[0].stack.frames[1].name, "A.B()");
  EXPECT_EQ(snapshot.threads[0].stack.frames[2].name, "");
}

}  // namespace
}  // namespace mixwalk
