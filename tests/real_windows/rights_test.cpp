// Programs with fewer rights than mixwalk, and one that nobody may open.

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include "tests/real_windows/dumped_threads.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/not_run.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/base/exit_code.h"
#include "walker/session/win/processes.h"

namespace mixwalk {
namespace {

using SidRoom = std::array<std::byte, SECURITY_MAX_SID_SIZE>;

// This program's token, with low integrity. Null: this system makes none.
UniqueHandle low_token() {
  HANDLE own = nullptr, copied = nullptr;
  const DWORD access = TOKEN_DUPLICATE | TOKEN_QUERY | TOKEN_ADJUST_DEFAULT | TOKEN_ASSIGN_PRIMARY;
  if (!OpenProcessToken(GetCurrentProcess(), access, &own)) return {};
  const UniqueHandle closed(own);
  if (!DuplicateTokenEx(own, MAXIMUM_ALLOWED, nullptr, SecurityImpersonation, TokenPrimary, &copied)) return {};
  UniqueHandle token(copied);
  alignas(void*) SidRoom low{};
  DWORD bytes = sizeof low;
  if (!CreateWellKnownSid(WinLowLabelSid, nullptr, low.data(), &bytes)) return {};
  TOKEN_MANDATORY_LABEL label{.Label = {.Sid = low.data(), .Attributes = SE_GROUP_INTEGRITY}};
  if (!SetTokenInformation(token.get(), TokenIntegrityLevel, &label, sizeof label + bytes)) return {};
  return token;
}

// SECURITY_MANDATORY_LOW_RID and so on; 0: not known.
DWORD integrity_of(HANDLE process) {
  HANDLE opened = nullptr;
  if (!OpenProcessToken(process, TOKEN_QUERY, &opened)) return 0;
  const UniqueHandle token(opened);
  alignas(TOKEN_MANDATORY_LABEL) std::byte room[sizeof(TOKEN_MANDATORY_LABEL) + SECURITY_MAX_SID_SIZE] = {};
  DWORD bytes = 0;
  if (!GetTokenInformation(token.get(), TokenIntegrityLevel, room, sizeof room, &bytes)) return 0;
  const PSID sid = reinterpret_cast<TOKEN_MANDATORY_LABEL*>(room)->Label.Sid;
  return *GetSidSubAuthority(sid, *GetSidSubAuthorityCount(sid) - 1u);
}

std::unique_ptr<ChildProcess> low_hang() {
  const UniqueHandle token = low_token();
  if (!token) return nullptr;
  try {
    auto hang = std::make_unique<ChildProcess>(std::vector<std::string>{fixture("hang.exe")},
                                               StartOptions{.flags = 0, .token = token.get(), .mitigations = {}});
    if (integrity_of(hang->handle()) != SECURITY_MANDATORY_LOW_RID) return nullptr;
    return hang;
  } catch (const std::runtime_error&) {
    return nullptr;
  }
}

// It writes to mixwalk's pipe all the same, and reads mixwalk.dll.
TEST(Rights, AProgramOfLowIntegrity) {
  const auto hang = low_hang();
  if (hang == nullptr) MIXWALK_NOT_RUN("this system starts no program with low integrity");
  ASSERT_TRUE(hang->read_line().value_or("").starts_with("READY"));
  expect_stuck_threads(dump_as_json(hang->id(), {"--inside"}));
  expect_stuck_threads(dump_as_json(hang->id(), {"--outside"}));
  hang->write_line("STOP");
  EXPECT_EQ(hang->wait(20'000), 0u);
}

// csrss.exe is protected: not even an administrator may open it for more than its name.
TEST(Rights, AProtectedProcess) {
  const auto processes = list_processes();
  const auto csrss = std::ranges::find(processes, "csrss.exe", &ProcessEntry::name);
  if (csrss == processes.end()) MIXWALK_NOT_RUN("this system has no csrss.exe");
  for (const char* way : {"--inside", "--outside"}) {
    const ProgramResult result = run_program({mixwalk_exe(), "dump", way, "-p", std::to_string(csrss->id)});
    EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::no_access)) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace mixwalk
