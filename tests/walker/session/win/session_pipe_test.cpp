#include "walker/session/win/session_pipe.h"

#include <gtest/gtest.h>

#include "tests/support/win/child_process.h"

namespace mixwalk {
namespace {

UniqueHandle connect(const SessionPipe& pipe) {
  return UniqueHandle(CreateFileW(pipe.name().c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr,
                                  OPEN_EXISTING, 0, nullptr));
}

TEST(SessionPipeTest, TakesTheTarget) {
  auto pipe = SessionPipe::create(std::nullopt);
  ASSERT_TRUE(pipe);
  pipe->watch(GetCurrentProcess());
  const UniqueHandle client = connect(*pipe);
  ASSERT_TRUE(client);
  EXPECT_EQ(pipe->accept(Deadline(10'000)), IoResult::ok);
}

// A process of the same user, which the pipe's descriptor lets in, is none that was asked to come.
TEST(SessionPipeTest, SendsAnotherProcessAway) {
  const ChildProcess target({"C:\\windows\\system32\\cmd.exe"});
  auto pipe = SessionPipe::create(std::nullopt);
  ASSERT_TRUE(pipe);
  pipe->watch(target.handle());
  const UniqueHandle client = connect(*pipe);
  ASSERT_TRUE(client);
  EXPECT_EQ(pipe->accept(Deadline(200)), IoResult::timeout);
  DWORD bytes = 0;
  EXPECT_FALSE(WriteFile(client.get(), "x", 1, &bytes, nullptr));
}

TEST(SessionPipeTest, AStrangerThatHasGoneAlreadyEndsNothing) {
  const ChildProcess target({"C:\\windows\\system32\\cmd.exe"});
  auto pipe = SessionPipe::create(std::nullopt);
  ASSERT_TRUE(pipe);
  pipe->watch(target.handle());
  ASSERT_TRUE(connect(*pipe));
  EXPECT_EQ(pipe->accept(Deadline(200)), IoResult::timeout);
}

TEST(SessionPipeTest, TheTargetGetsInBehindAStranger) {
  auto pipe = SessionPipe::create(std::nullopt);
  ASSERT_TRUE(pipe);
  const ChildProcess other({"C:\\windows\\system32\\cmd.exe"});
  const UniqueHandle stranger = connect(*pipe);
  pipe->watch(other.handle());
  EXPECT_EQ(pipe->accept(Deadline(200)), IoResult::timeout);
  EXPECT_EQ(pipe->rejected_client(), GetCurrentProcessId());
  pipe->watch(GetCurrentProcess());
  const UniqueHandle target = connect(*pipe);
  ASSERT_TRUE(target);
  EXPECT_EQ(pipe->accept(Deadline(10'000)), IoResult::ok);
}

}  // namespace
}  // namespace mixwalk
