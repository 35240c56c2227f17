// Programs with fewer rights than mixwalk, and one that no user may open.

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "tests/end_to_end/dumped_threads.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/wine.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/base/exit_code.h"
#include "walker/session/win/processes.h"
#include "walker/session/win/token.h"

namespace mixwalk {
namespace {

using SidRoom = std::array<std::byte, SECURITY_MAX_SID_SIZE>;

// Throws with the system's error, unless the call succeeded.
void expect_success(BOOL succeeded, const char* call) {
  if (!succeeded) throw std::runtime_error(std::string(call) + ": error " + std::to_string(GetLastError()));
}

// Returns this program's token, with low integrity.
UniqueHandle low_token() {
  constexpr DWORD kAccess = TOKEN_DUPLICATE | TOKEN_QUERY | TOKEN_ADJUST_DEFAULT | TOKEN_ASSIGN_PRIMARY;
  HANDLE opened = nullptr, copied = nullptr;
  expect_success(OpenProcessToken(GetCurrentProcess(), kAccess, &opened), "OpenProcessToken");
  const UniqueHandle own(opened);
  expect_success(DuplicateTokenEx(own.get(), MAXIMUM_ALLOWED, nullptr, SecurityImpersonation, TokenPrimary, &copied),
                 "DuplicateTokenEx");
  UniqueHandle token(copied);
  alignas(void*) SidRoom low{};
  DWORD bytes = sizeof low;
  expect_success(CreateWellKnownSid(WinLowLabelSid, nullptr, low.data(), &bytes), "CreateWellKnownSid");
  TOKEN_MANDATORY_LABEL label{.Label = {.Sid = low.data(), .Attributes = SE_GROUP_INTEGRITY}};
  expect_success(SetTokenInformation(token.get(), TokenIntegrityLevel, &label, sizeof label + bytes),
                 "SetTokenInformation");
  return token;
}

// A program with low integrity can nevertheless write to mixwalk's pipe, and read mixwalk.dll.
TEST(Rights, AProgramOfLowIntegrity) {
  if (under_wine()) GTEST_SKIP() << "Wine 8 starts no program with low integrity";
  const UniqueHandle token = low_token();
  ChildProcess hang({fixture("hang.exe")}, StartOptions{.flags = 0, .token = token.get(), .mitigations = {}});
  const auto facts = token_facts(hang.handle());
  ASSERT_TRUE(facts.has_value()) << GetLastError();
  ASSERT_EQ(facts->integrity, std::uint32_t{SECURITY_MANDATORY_LOW_RID});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  expect_whole_threads(dump_as_json(hang.id(), {"--inside"}));
  expect_whole_threads(dump_as_json(hang.id(), {"--outside"}));
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

// csrss.exe is protected: even an administrator may open it only to read its name.
TEST(Rights, AProtectedProcess) {
  const auto processes = list_processes();
  const auto csrss = std::ranges::find(processes, "csrss.exe", &ProcessEntry::name);
  if (csrss == processes.end()) GTEST_SKIP() << "this system has no csrss.exe";
  for (const char* way : {"--inside", "--outside"}) {
    const ProgramResult result = run_program({mixwalk_exe(), "dump", way, "-p", std::to_string(csrss->id)});
    EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::no_access)) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace mixwalk
