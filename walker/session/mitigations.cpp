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

constexpr const char* kOnlyReads = "\"mixwalk dump --outside\" only reads the process";

struct Rule {
  std::optional<std::uint32_t> MitigationPolicies::* flags;
  std::uint32_t bits;  // one of them is enough
  bool refuses;        // MitigationEffect
  const char* found;   // the same
  const char* advice = kOnlyReads;
  // The setting of "Exploit protection" in Windows' own security settings that may be the cause, by its name there.
  const char* setting = nullptr;
  std::uint32_t unless = 0;  // with one of these, there is no effect
};

// First the policies with which the process refuses mixwalk.dll wherever the file is.
constexpr Rule kRules[] = {
    {.flags = &MitigationPolicies::signature, .bits = kMicrosoftSignedOnly, .refuses = true,
     .found = "it loads only DLLs that Microsoft signed (MicrosoftSignedOnly)", .setting = "Code integrity guard"},
    {.flags = &MitigationPolicies::signature, .bits = kStoreSignedOnly, .refuses = true,
     .found = "it loads only DLLs that the Microsoft Store signed (StoreSignedOnly)",
     .setting = "Code integrity guard"},
    {.flags = &MitigationPolicies::signature, .bits = kMitigationOptIn, .refuses = true,
     .found = "it loads only DLLs that Microsoft or the Microsoft Store signed (MitigationOptIn)",
     .setting = "Code integrity guard"},
    {.flags = &MitigationPolicies::control_flow_guard, .bits = kStrictMode, .refuses = true,
     .found = "it loads only DLLs with Control Flow Guard (StrictMode), which mixwalk.dll does not have",
     .setting = "Use strict CFG"},
    {.flags = &MitigationPolicies::shadow_stack, .bits = kBlockNonCetBinaries | kBlockNonCetBinariesNonEhcont,
     .refuses = true,
     .found = "it loads only DLLs that are marked for shadow stacks (BlockNonCetBinaries), which mixwalk.dll is not",
     .setting = "Hardware-enforced Stack Protection"},
    {.flags = &MitigationPolicies::image_load, .bits = kNoLowMandatoryLabelImages, .refuses = false,
     .found = "it loads no DLL with a low integrity level (NoLowMandatoryLabelImages)",
     .advice = "if attaching fails, \"icacls mixwalk.dll\" shows the level; a copy in another folder has none"},
    {.flags = &MitigationPolicies::shadow_stack, .bits = kEnableUserShadowStackStrictMode, .refuses = false,
     .found = "its shadow stacks are in strict mode: a wrong return address in mixwalk.dll would end the process, and "
              "mixwalk was not tested with them"},
    {.flags = &MitigationPolicies::shadow_stack, .bits = kEnableUserShadowStack, .refuses = false,
     .found = "it has shadow stacks, with which mixwalk was not tested", .unless = kEnableUserShadowStackStrictMode},
};

std::string advice_of(const Rule& rule) {
  if (rule.setting == nullptr) return rule.advice;
  return fmt::format("{}; if the exploit protection of Windows causes this, the setting is \"{}\"", rule.advice,
                     rule.setting);
}

bool has(const std::optional<std::uint32_t>& flags, std::uint32_t bit) { return (flags.value_or(0) & bit) != 0; }

}  // namespace

std::vector<MitigationEffect> mitigation_effects(const MitigationPolicies& policies) {
  std::vector<MitigationEffect> effects;
  if (policies.dll_is_remote && has(policies.image_load, kNoRemoteImages)) {
    effects.push_back({true, "it loads no DLL from another machine (NoRemoteImages), and mixwalk.dll is on one",
                       "copy mixwalk to a local drive"});
  }
  for (const Rule& rule : kRules) {
    const auto& flags = policies.*rule.flags;
    if (!has(flags, rule.bits) || has(flags, rule.unless)) continue;
    effects.push_back({rule.refuses, rule.found, advice_of(rule)});
  }
  return effects;
}

std::optional<Failure> mitigation_refusal(const MitigationPolicies& policies, const std::string& process) {
  const auto effects = mitigation_effects(policies);
  if (effects.empty() || !effects.front().refuses) return std::nullopt;
  return Failure{ExitCode::refused, fmt::format("{} would refuse mixwalk.dll: {}: {}", process, effects.front().found,
                                                effects.front().advice)};
}

std::string harmless_mitigations(const MitigationPolicies& policies) {
  std::string names;
  const auto add = [&names](bool on, const char* name) {
    if (on) names.append(names.empty() ? "" : ", ").append(name);
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
