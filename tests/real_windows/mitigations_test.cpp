// Programs with mitigation policies that keep mixwalk.dll out.

#include <gtest/gtest.h>
#include <windows.h>

#include "tests/support/win/child_process.h"
#include "unmanaged/win/utf8.h"
#include "walker/session/win/mitigation_policies.h"

namespace mixwalk {
namespace {

constexpr const char* kUnknown = "this system tells nothing of mitigation policies";

// PROCESS_CREATION_MITIGATION_POLICY_BLOCK_NON_MICROSOFT_BINARIES_ALWAYS_ON, and the name of the second word's
// STRICT_CONTROL_FLOW_GUARD_ALWAYS_ON, which this compiler's headers may not have.
constexpr DWORD64 kMicrosoftOnly = DWORD64{1} << 44, kStrictControlFlowGuard = DWORD64{1} << 8;

bool system_tells_policies() { return any_known(read_mitigation_policies(GetCurrentProcessId())); }

// cmd.exe belongs to Windows, so it fulfils both policies itself.
TEST(Mitigations, OfAProgramAreRead) {
  if (!system_tells_policies()) GTEST_SKIP() << kUnknown;
  struct Case {
    DWORD64 first, second;
    const char* name;
  };
  for (const Case& one : {Case{kMicrosoftOnly, 0, "MicrosoftSignedOnly"}, {0, kStrictControlFlowGuard, "StrictMode"}}) {
    SCOPED_TRACE(one.name);
    ChildProcess program({"C:\\windows\\system32\\cmd.exe"},
                         StartOptions{.flags = 0, .token = nullptr, .mitigations = {one.first, one.second}});
    const auto refusal = mitigation_refusal(read_mitigation_policies(program.id()), "this program");
    ASSERT_TRUE(refusal);
    EXPECT_NE(refusal->message.find(one.name), std::string::npos) << refusal->message;
  }
}

// Ends this program with the error that LoadLibrary gives for mixwalk.dll.
TEST(Mitigations, DISABLED_LoadsWithMicrosoftOnly) {
  SetErrorMode(SEM_FAILCRITICALERRORS);
  DWORD only_microsoft = 1;
  if (!SetProcessMitigationPolicy(ProcessSignaturePolicy, &only_microsoft, sizeof only_microsoft)) ExitProcess(1);
  ExitProcess(LoadLibraryW(to_utf16(beside("mixwalk.dll")).c_str()) != nullptr ? 0 : GetLastError());
}

TEST(Mitigations, TheLoaderRefusesALibraryWithoutMicrosoftsSignature) {
  if (!system_tells_policies()) GTEST_SKIP() << kUnknown;
  const auto result = run_program(disabled_case("Mitigations.DISABLED_LoadsWithMicrosoftOnly"));
  EXPECT_EQ(result.exit_code, 577u) << result.out << result.err;  // ERROR_INVALID_IMAGE_HASH
}

}  // namespace
}  // namespace mixwalk
