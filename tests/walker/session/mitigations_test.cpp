#include "walker/session/mitigations.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

constexpr MitigationPolicies kAllOff{
    .signature = 0, .control_flow_guard = 0, .shadow_stack = 0, .image_load = 0, .dynamic_code = 0};

// Changes one policy of a process that has none.
MitigationPolicies with(std::optional<std::uint32_t> MitigationPolicies::* policy, std::uint32_t flags) {
  MitigationPolicies policies = kAllOff;
  policies.*policy = flags;
  return policies;
}

struct Refusing {
  const char* name;  // of the bit, in winnt.h
  std::optional<std::uint32_t> MitigationPolicies::* policy;
  std::uint32_t flags;
  const char* advises;
};

// The values are those of the structures on Microsoft Learn.
constexpr Refusing kRefusingPolicies[] = {
    {"MicrosoftSignedOnly", &MitigationPolicies::signature, 0x1, "Code integrity guard"},
    {"StoreSignedOnly", &MitigationPolicies::signature, 0x2, "Code integrity guard"},
    {"MitigationOptIn", &MitigationPolicies::signature, 0x4, "Code integrity guard"},
    {"StrictMode", &MitigationPolicies::control_flow_guard, 0x5, "Use strict CFG"},
    {"BlockNonCetBinaries", &MitigationPolicies::shadow_stack, 0x21, "Hardware-enforced Stack Protection"},
    {"BlockNonCetBinaries", &MitigationPolicies::shadow_stack, 0x41, "Hardware-enforced Stack Protection"},
};

TEST(Mitigations, ThatRefuseTheLibraryAreAFailureBeforeTheAttach) {
  for (const Refusing& one : kRefusingPolicies) {
    SCOPED_TRACE(one.name);
    const auto failure = mitigation_refusal(with(one.policy, one.flags), "process 4711 (orders.exe)");
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code, ExitCode::refused);
    EXPECT_TRUE(failure->message.starts_with("process 4711 (orders.exe) would refuse mixwalk.dll: "))
        << failure->message;
    EXPECT_NE(failure->message.find(one.name), std::string::npos) << failure->message;
    EXPECT_NE(failure->message.find(one.advises), std::string::npos) << failure->message;
    EXPECT_NE(failure->message.find("--outside"), std::string::npos) << failure->message;
  }
}

TEST(Mitigations, ThatDoNotConcernTheLibrary) {
  const MitigationPolicies policies{.signature = 0x18,          // both are audits
                                    .control_flow_guard = 0x3,  // with export suppression
                                    .shadow_stack = 0x82,       // both are audits
                                    .image_load = 0x1d,         // remote images, System32, audits
                                    .dynamic_code = 0x1};
  EXPECT_TRUE(mitigation_effects(policies).empty());
  EXPECT_FALSE(mitigation_refusal(policies, "process 4711"));
  EXPECT_EQ(harmless_mitigations(policies), "Control Flow Guard, no dynamic code, no remote images, System32 first");
  EXPECT_EQ(harmless_mitigations(kAllOff), "");
}

TEST(Mitigations, ThatAreUnknownRefuseNothing) {
  EXPECT_FALSE(mitigation_refusal({}, "process 4711"));
  EXPECT_FALSE(any_known({}));
  EXPECT_TRUE(any_known(kAllOff));
  EXPECT_TRUE(any_known({.image_load = 0}));
}

TEST(Mitigations, AgainstRemoteImagesRefuseALibraryOnAnotherMachine) {
  MitigationPolicies policies = with(&MitigationPolicies::image_load, 0x1);
  policies.dll_is_remote = true;
  const auto failure = mitigation_refusal(policies, "process 4711");
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->message.find("copy mixwalk to a local drive"), std::string::npos) << failure->message;
  EXPECT_EQ(harmless_mitigations(policies), "");
  policies.image_load = 0;
  EXPECT_FALSE(mitigation_refusal(policies, "process 4711"));
}

TEST(Mitigations, ThatTheUserShouldKnow) {
  struct Known {
    std::optional<std::uint32_t> MitigationPolicies::* policy;
    std::uint32_t flags;
    const char* says;
  };
  const Known cases[] = {
      {&MitigationPolicies::image_load, 0x2, "NoLowMandatoryLabelImages"},
      {&MitigationPolicies::shadow_stack, 0x1, "shadow stacks, with which"},
      {&MitigationPolicies::shadow_stack, 0x11, "strict mode"},
  };
  for (const Known& one : cases) {
    const auto effects = mitigation_effects(with(one.policy, one.flags));
    ASSERT_EQ(effects.size(), 1u) << one.says;
    EXPECT_FALSE(effects[0].refuses);
    EXPECT_NE(std::string(effects[0].found).find(one.says), std::string::npos) << effects[0].found;
    EXPECT_NE(effects[0].advice, "");
  }
}

}  // namespace
}  // namespace mixwalk
