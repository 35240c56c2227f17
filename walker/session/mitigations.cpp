#include "walker/session/mitigations.h"

#include <fmt/format.h>

namespace mixwalk {
namespace {

// The bits of the flags, from Microsoft Learn, "PROCESS_MITIGATION_BINARY_SIGNATURE_POLICY structure (winnt.h)" and the
// pages of the other four structures. Headers of mingw-w64 lack some of these bits.
constexpr std::uint32_t kMicrosoftSignedOnly = 1 << 0, kStoreSignedOnly = 1 << 1, kMitigationOptIn = 1 << 2;
constexpr std::uint32_t kEnableControlFlowGuard = 1 << 0, kStrictMode = 1 << 2;
constexpr std::uint32_t kEnableUserShadowStack = 1 << 0, kEnableUserShadowStackStrictMode = 1 << 4,
                        kBlockNonCetBinaries = 1 << 5, kBlockNonCetBinariesNonEhcont = 1 << 6;
constexpr std::uint32_t kNoRemoteImages = 1 << 0, kNoLowMandatoryLabelImages = 1 << 1, kPreferSystem32Images = 1 << 2;
constexpr std::uint32_t kProhibitDynamicCode = 1 << 0;

constexpr const char* kOnlyRead = "\"mixwalk dump --outside\" only reads the process";

bool has(const std::optional<std::uint32_t>& flags, std::uint32_t bit) { return (flags.value_or(0) & bit) != 0; }

std::string advice(const char* setting) {
  return fmt::format("{}; if the exploit protection of Windows causes this, the setting is \"{}\"", kOnlyRead, setting);
}

struct Rule {
  std::optional<std::uint32_t> MitigationPolicies::* flags;
  std::uint32_t bits;
  const char* found;
  const char* setting;  // its name in Windows' own settings
};

// Policies with which the process refuses mixwalk.dll wherever the file is.
constexpr Rule kRefusing[] = {
    {&MitigationPolicies::signature, kMicrosoftSignedOnly,
     "it loads only DLLs that Microsoft signed (MicrosoftSignedOnly)", "Code integrity guard"},
    {&MitigationPolicies::signature, kStoreSignedOnly,
     "it loads only DLLs that the Microsoft Store signed (StoreSignedOnly)", "Code integrity guard"},
    {&MitigationPolicies::signature, kMitigationOptIn,
     "it loads only DLLs that Microsoft or the Microsoft Store signed (MitigationOptIn)", "Code integrity guard"},
    {&MitigationPolicies::control_flow_guard, kStrictMode,
     "it loads only DLLs with Control Flow Guard (StrictMode), which mixwalk.dll does not have", "Use strict CFG"},
    {&MitigationPolicies::shadow_stack, kBlockNonCetBinaries | kBlockNonCetBinariesNonEhcont,
     "it loads only DLLs that are marked for shadow stacks (BlockNonCetBinaries), which mixwalk.dll is not",
     "Hardware-enforced Stack Protection"},
};

}  // namespace

std::vector<MitigationEffect> mitigation_effects(const MitigationPolicies& policies) {
  std::vector<MitigationEffect> effects;
  for (const Rule& rule : kRefusing) {
    if (has(policies.*rule.flags, rule.bits)) effects.push_back({true, rule.found, advice(rule.setting)});
  }
  if (has(policies.image_load, kNoRemoteImages) && policies.dll_is_remote) {
    effects.push_back({true, "it loads no DLL from another machine (NoRemoteImages), and mixwalk.dll is on one",
                       "copy mixwalk to a local drive"});
  }
  if (has(policies.image_load, kNoLowMandatoryLabelImages)) {
    effects.push_back({false, "it loads no DLL with a low integrity level (NoLowMandatoryLabelImages)",
                       "if attaching fails, \"icacls mixwalk.dll\" shows the level; a copy in another folder has none"});
  }
  if (has(policies.shadow_stack, kEnableUserShadowStackStrictMode)) {
    effects.push_back({false,
                       "it has shadow stacks in strict mode, in which a wrong return address in mixwalk.dll would end the"
                       " process; mixwalk was not tested with them",
                       kOnlyRead});
  } else if (has(policies.shadow_stack, kEnableUserShadowStack)) {
    effects.push_back({false, "it has shadow stacks, with which mixwalk was not tested", kOnlyRead});
  }
  return effects;
}

std::optional<Failure> mitigation_refusal(const MitigationPolicies& policies, const std::string& process) {
  const auto effects = mitigation_effects(policies);
  if (effects.empty() || !effects.front().refuses) return std::nullopt;
  return Failure{ExitCode::refused,
                 process + " would refuse mixwalk.dll: " + effects.front().found + ": " + effects.front().advice};
}

std::string harmless_mitigations(const MitigationPolicies& policies) {
  std::string names;
  const auto add = [&names](bool on, const char* name) {
    if (on) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  // Calls into an image without a table of Control Flow Guard are allowed. mixwalk.dll generates no code, and is loaded
  // by its whole path.
  add(has(policies.control_flow_guard, kEnableControlFlowGuard) && !has(policies.control_flow_guard, kStrictMode),
      "Control Flow Guard");
  add(has(policies.dynamic_code, kProhibitDynamicCode), "no dynamic code");
  add(has(policies.image_load, kNoRemoteImages) && !policies.dll_is_remote, "no remote images");
  add(has(policies.image_load, kPreferSystem32Images), "System32 first");
  return names;
}

bool any_known(const MitigationPolicies& policies) {
  return policies.signature || policies.control_flow_guard || policies.shadow_stack || policies.image_load ||
         policies.dynamic_code;
}

}  // namespace mixwalk
