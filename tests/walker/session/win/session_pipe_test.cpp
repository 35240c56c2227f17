#include "walker/session/win/session_pipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sddl.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/win/child_process.h"
#include "tests/support/win/wine.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

UniqueHandle connect(const SessionPipe& pipe) {
  return UniqueHandle(CreateFileW(pipe.name().c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr,
                                  OPEN_EXISTING, 0, nullptr));
}

// Returns a part of the descriptor that the system keeps for the pipe, as SDDL; the result is empty if there is none.
std::string descriptor_of(const SessionPipe& pipe, SECURITY_INFORMATION part) {
  const UniqueHandle client = connect(pipe);
  DWORD bytes = 0;
  GetKernelObjectSecurity(client.get(), part, nullptr, 0, &bytes);
  std::vector<std::byte> descriptor(bytes);
  LPWSTR wide = nullptr;
  if (!GetKernelObjectSecurity(client.get(), part, descriptor.data(), bytes, &bytes) ||
      !ConvertSecurityDescriptorToStringSecurityDescriptorW(descriptor.data(), SDDL_REVISION_1, part, &wide, nullptr)) {
    return {};
  }
  std::string sddl = to_utf8(wide);
  LocalFree(wide);
  return sddl;
}

constexpr char kOtherUser[] = "S-1-5-21-1-2-3-1002";
constexpr char kOtherLogon[] = "S-1-5-5-0-7";

TEST(SessionPipeTest, AdmitsTheTargetsUserAndSession) {
  auto pipe = SessionPipe::create(TokenFacts{.user = kOtherUser, .logon = kOtherLogon});
  ASSERT_TRUE(pipe);
  const std::string sddl = descriptor_of(*pipe, DACL_SECURITY_INFORMATION);
  EXPECT_THAT(sddl, testing::StartsWith("D:P(")) << "nothing is inherited";
  EXPECT_THAT(sddl, testing::HasSubstr(std::string(";;;") + kOtherUser + ")"));
  EXPECT_THAT(sddl, testing::HasSubstr(std::string(";;;") + kOtherLogon + ")"));
}

TEST(SessionPipeTest, AdmitsNoOtherUserWithoutATarget) {
  auto pipe = SessionPipe::create(std::nullopt);
  ASSERT_TRUE(pipe);
  const std::string sddl = descriptor_of(*pipe, DACL_SECURITY_INFORMATION);
  EXPECT_THAT(sddl, testing::StartsWith("D:P("));
  EXPECT_EQ(std::ranges::count(sddl, '('), 1) << sddl;
}

TEST(SessionPipeTest, ATargetOfLowIntegrityMayWrite) {
  auto pipe = SessionPipe::create(TokenFacts{.user = kOtherUser, .integrity = SECURITY_MANDATORY_LOW_RID});
  ASSERT_TRUE(pipe);
  const std::string sddl = descriptor_of(*pipe, LABEL_SECURITY_INFORMATION);
  if (sddl.find("ML") == sddl.npos && under_wine()) GTEST_SKIP() << "Wine 8 gives no label back";
  EXPECT_THAT(sddl, testing::HasSubstr("(ML;;NW;;;LW)"));
}

TEST(SessionPipeTest, TakesTheTarget) {
  auto pipe = SessionPipe::create(std::nullopt);
  ASSERT_TRUE(pipe);
  pipe->watch(GetCurrentProcess());
  const UniqueHandle client = connect(*pipe);
  ASSERT_TRUE(client);
  EXPECT_EQ(pipe->accept(Deadline(10'000)), IoResult::ok);
}

// The pipe's descriptor admits every process of the same user, but only one of them was asked to connect.
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
