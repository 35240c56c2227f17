#include "walker/suspended/win/thread_context.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

DWORD g_answer;  // the flags of the answer
DWORD g_asked;   // those of the question
bool g_fails;

BOOL WINAPI answer(HANDLE, CONTEXT* context) {
  g_asked = context->ContextFlags;
  if (g_fails) return FALSE;
  *context = {};
  context->ContextFlags = CONTEXT_CONTROL | CONTEXT_INTEGER | g_answer;
  context->Rip = 0x1234;
  context->Rsp = 0x5678;
  return TRUE;
}

class ThreadContextTest : public testing::Test {
 protected:
  ReadContext read(DWORD flags) {
    g_fails = false;
    g_answer = flags;
    return read_context(nullptr, &answer);
  }
};

TEST_F(ThreadContextTest, TheSystemIsAskedWhetherItIsSendingAnException) {
  const ReadContext context = read(0);
  EXPECT_EQ(g_asked, DWORD{CONTEXT_CONTROL | CONTEXT_INTEGER | CONTEXT_EXCEPTION_REQUEST});
  EXPECT_TRUE(context.done);
  EXPECT_EQ(context.registers.rip, 0x1234u);
  EXPECT_EQ(context.registers.rsp(), 0x5678u);
  EXPECT_FALSE(context.in_dispatch);
}

TEST_F(ThreadContextTest, RegistersOfTwoMoments) {
  EXPECT_TRUE(read(CONTEXT_EXCEPTION_REPORTING | CONTEXT_EXCEPTION_ACTIVE).in_dispatch);
  EXPECT_TRUE(read(CONTEXT_EXCEPTION_REPORTING | CONTEXT_EXCEPTION_ACTIVE | CONTEXT_SERVICE_ACTIVE).in_dispatch);
}

TEST_F(ThreadContextTest, AThreadInASystemCall) {
  EXPECT_FALSE(read(CONTEXT_EXCEPTION_REPORTING | CONTEXT_SERVICE_ACTIVE).in_dispatch);
}

TEST_F(ThreadContextTest, WithoutTheAnswersFlagTheRestMeansNothing) {
  EXPECT_FALSE(read(CONTEXT_EXCEPTION_ACTIVE).in_dispatch);
}

TEST_F(ThreadContextTest, AThreadThatIsEnding) {
  g_fails = true;
  EXPECT_FALSE(read_context(nullptr, &answer).done);
}

}  // namespace
}  // namespace mixwalk
