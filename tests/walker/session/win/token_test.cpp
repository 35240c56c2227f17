#include "walker/session/win/token.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <sddl.h>

#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

TEST(TokenFactsTest, OfThisProcess) {
  const auto facts = token_facts(GetCurrentProcess());
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->user.starts_with("S-1-5-")) << facts->user;
  EXPECT_TRUE(facts->logon.empty() || facts->logon.starts_with("S-1-5-5-")) << facts->logon;
  EXPECT_EQ(facts->app_container, "");
  EXPECT_FALSE(facts->restricted);
  EXPECT_GE(facts->integrity, TokenFacts::kMediumIntegrity);
}

TEST(TokenFactsTest, OfNoProcess) { EXPECT_FALSE(token_facts(nullptr)); }

TEST(OpenProcess, TakesNoIdOfAnotherProcess) {
  const DWORD own = GetCurrentProcessId();
  EXPECT_TRUE(open_process(PROCESS_QUERY_LIMITED_INFORMATION, own));
  for (const DWORD more : {1, 2, 3}) {
    EXPECT_FALSE(open_process(PROCESS_QUERY_LIMITED_INFORMATION, own + more)) << more;
    EXPECT_EQ(GetLastError(), static_cast<DWORD>(ERROR_INVALID_PARAMETER));
  }
}

// The system must accept what pipe_sddl returns, for every kind of target.
TEST(PipeSddl, IsADescriptor) {
  const TokenFacts targets[] = {
      {.user = "S-1-5-21-1-2-3-1001"},
      {.user = "S-1-5-18"},
      {.user = "S-1-5-20", .logon = "S-1-5-5-0-996"},
      {.user = "S-1-5-21-1-2-3-1001", .app_container = "S-1-15-2-1-2", .integrity = 0x1000},
      {.user = "S-1-5-21-1-2-3-1002", .logon = "S-1-5-5-0-7", .restricted = true, .integrity = 0}};
  for (const TokenFacts& target : targets) {
    const std::string sddl = pipe_sddl("S-1-5-21-1-2-3-1001", target);
    PSECURITY_DESCRIPTOR descriptor = nullptr;
    EXPECT_TRUE(ConvertStringSecurityDescriptorToSecurityDescriptorW(
        to_utf16(sddl).c_str(), SDDL_REVISION_1, &descriptor, nullptr))
        << sddl;
    EXPECT_TRUE(descriptor != nullptr && IsValidSecurityDescriptor(descriptor)) << sddl;
    LocalFree(descriptor);
  }
}

// Returns nothing if this process does not hold the privilege.
std::optional<bool> debug_privilege_is_on() {
  HANDLE raw = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw)) return std::nullopt;
  const UniqueHandle token(raw);
  std::byte bytes[4096];
  DWORD size = 0;
  LUID debug{};
  if (!GetTokenInformation(token.get(), TokenPrivileges, bytes, sizeof bytes, &size) ||
      !LookupPrivilegeValueW(nullptr, SE_DEBUG_NAME, &debug)) {
    return std::nullopt;
  }
  const auto* privileges = reinterpret_cast<const TOKEN_PRIVILEGES*>(bytes);
  for (DWORD i = 0; i < privileges->PrivilegeCount; ++i) {
    const auto& one = privileges->Privileges[i];
    if (one.Luid.LowPart == debug.LowPart && one.Luid.HighPart == debug.HighPart) {
      return (one.Attributes & SE_PRIVILEGE_ENABLED) != 0;
    }
  }
  return std::nullopt;
}

TEST(DebugPrivilegeTest, IsOnOnlyMeanwhile) {
  const auto before = debug_privilege_is_on();
  {
    const DebugPrivilege privilege;
    EXPECT_EQ(privilege.held(), before.has_value());
    EXPECT_EQ(debug_privilege_is_on().value_or(true), true);
    {
      const DebugPrivilege again;
      EXPECT_EQ(again.held(), before.has_value());
    }
    EXPECT_EQ(debug_privilege_is_on().value_or(true), true) << "the inner one leaves it as it was";
  }
  EXPECT_EQ(debug_privilege_is_on(), before);
}

TEST(OpenProcessTest, ThePrivilegeIsOffAgain) {
  const auto before = debug_privilege_is_on();
  EXPECT_TRUE(open_process(SYNCHRONIZE, GetCurrentProcessId()));
  EXPECT_FALSE(open_process(SYNCHRONIZE, 0xFFFFFFF0));
  EXPECT_EQ(GetLastError(), static_cast<DWORD>(ERROR_INVALID_PARAMETER));
  EXPECT_TRUE(open_thread(SYNCHRONIZE, GetCurrentThreadId()));
  EXPECT_EQ(debug_privilege_is_on(), before);
}

}  // namespace
}  // namespace mixwalk
