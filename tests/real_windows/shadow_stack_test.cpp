// Programs with hardware shadow stacks (CET), which the processor holds against each return.

#include <gtest/gtest.h>
#include <windows.h>

#include <memory>
#include <stdexcept>

#include "tests/real_windows/dumped_threads.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/not_run.h"

namespace mixwalk {
namespace {

// PROCESS_CREATION_MITIGATION_POLICY2_CET_USER_SHADOW_STACKS_ALWAYS_ON, which this compiler's headers may not have.
constexpr DWORD64 kShadowStacks = DWORD64{1} << 28;
constexpr const char* kNone = "this system or its processor has no shadow stacks";

bool has_shadow_stack(HANDLE process) {
  DWORD policy = 0;  // Wine 8 says that it succeeds, and writes nothing
  return GetProcessMitigationPolicy(process, ProcessUserShadowStackPolicy, &policy, sizeof policy) && (policy & 1) != 0;
}

// Null: it cannot be started so, or has no shadow stacks.
std::unique_ptr<ChildProcess> with_shadow_stacks(const std::string& program) {
  try {
    const StartOptions options{.flags = 0, .token = nullptr, .mitigations = {0, kShadowStacks}};
    auto started = std::make_unique<ChildProcess>(std::vector<std::string>{program}, options);
    return has_shadow_stack(started->handle()) ? std::move(started) : nullptr;
  } catch (const std::runtime_error&) {
    return nullptr;
  }
}

TEST(ShadowStacks, StacksAreWholeAndTheProgramLivesOn) {
  const auto hang = with_shadow_stacks(fixture("hang.exe"));
  if (hang == nullptr) MIXWALK_NOT_RUN(kNone);
  ASSERT_TRUE(hang->read_line().value_or("").starts_with("READY"));
  for (const char* engine : {"auto", "snapshot", "copy"}) {
    SCOPED_TRACE(engine);
    expect_stuck_threads(dump_as_json(hang->id(), {"--inside", "--wait", "10s", "--engine", engine}));
  }
  expect_stuck_threads(dump_as_json(hang->id(), {"--outside"}));
  hang->write_line("STOP");
  EXPECT_EQ(hang->wait(20'000), 0u);
}

// mixwalk.dll's landing pads for faults: the unwinds to them take the shadow stack along.
TEST(ShadowStacks, FaultsOfReadsLandWhereTheyShall) {
  std::string guarded = mixwalk_exe();
  guarded.replace(guarded.rfind('\\') + 1, std::string::npos, "guarded_test.exe");
  const auto test = with_shadow_stacks(guarded);
  if (test == nullptr) MIXWALK_NOT_RUN(kNone);
  const std::string said = test->read_rest();
  EXPECT_EQ(test->wait(60'000), 0u) << said;
}

}  // namespace
}  // namespace mixwalk
