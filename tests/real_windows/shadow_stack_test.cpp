// Programs with hardware shadow stacks (CET), with which the processor compares each return.

#include <gtest/gtest.h>
#include <windows.h>

#include <string>

#include "tests/end_to_end/dumped_threads.h"
#include "tests/support/win/child_process.h"

namespace mixwalk {
namespace {

// This compiler's headers may not have PROCESS_CREATION_MITIGATION_POLICY2_CET_USER_SHADOW_STACKS_ALWAYS_ON and
// …_USER_CET_SET_CONTEXT_IP_VALIDATION_ALWAYS_ON. With the second one the system also checks the instruction at which
// an exception's handler continues, as it does for the hosts of .NET 9 and later.
constexpr DWORD64 kShadowStacks = DWORD64{1} << 28 | DWORD64{1} << 32;
constexpr const char* kNone = "this system or its processor has no shadow stacks";

// Looks up the function of Windows 10 20H1 that tells this, because this compiler's headers may not have it.
bool system_has_shadow_stacks() {
  using Available = BOOL(WINAPI*)(DWORD environment);
  constexpr DWORD kOfProcesses = 0;  // USER_CET_ENVIRONMENT_WIN32_PROCESS
  const auto available = reinterpret_cast<Available>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"kernel32"), "IsUserCetAvailableInEnvironment")));
  return available != nullptr && available(kOfProcesses);
}

bool has_shadow_stack(HANDLE process) {
  DWORD policy = 0;
  return GetProcessMitigationPolicy(process, ProcessUserShadowStackPolicy, &policy, sizeof policy) && (policy & 1) != 0;
}

StartOptions with_shadow_stacks() { return {.flags = 0, .token = nullptr, .mitigations = {0, kShadowStacks}}; }

TEST(ShadowStacks, StacksAreWholeAndTheProgramLivesOn) {
  if (!system_has_shadow_stacks()) GTEST_SKIP() << kNone;
  ChildProcess hang({fixture("hang.exe")}, with_shadow_stacks());
  ASSERT_TRUE(has_shadow_stack(hang.handle()));
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  for (const char* engine : {"auto", "snapshot", "copy"}) {
    SCOPED_TRACE(engine);
    expect_whole_threads(dump_as_json(hang.id(), {"--inside", "--wait", "10s", "--engine", engine}));
  }
  expect_whole_threads(dump_as_json(hang.id(), {"--outside"}));
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

// When a fault is unwound to mixwalk.dll's landing pads, the shadow stack must be unwound as well.
TEST(ShadowStacks, FaultsOfReadsLandWhereTheyShall) {
  if (!system_has_shadow_stacks()) GTEST_SKIP() << kNone;
  ChildProcess test({beside("guarded_test.exe")}, with_shadow_stacks());
  ASSERT_TRUE(has_shadow_stack(test.handle()));
  const std::string said = test.read_rest();
  EXPECT_EQ(test.wait(60'000), 0u) << said;
}

}  // namespace
}  // namespace mixwalk
