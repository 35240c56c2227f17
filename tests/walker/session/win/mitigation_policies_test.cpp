#include "walker/session/win/mitigation_policies.h"

#include <gtest/gtest.h>

#include <cstring>

namespace mixwalk {
namespace {

BOOL WINAPI writes_number_of_policy(HANDLE, PROCESS_MITIGATION_POLICY policy, void* into, SIZE_T bytes) {
  const DWORD flags = 100 + static_cast<DWORD>(policy);
  if (bytes != sizeof flags) return FALSE;
  std::memcpy(into, &flags, sizeof flags);
  return TRUE;
}

BOOL WINAPI knows_signatures_only(HANDLE process, PROCESS_MITIGATION_POLICY policy, void* into, SIZE_T bytes) {
  return policy == ProcessSignaturePolicy && writes_number_of_policy(process, policy, into, bytes);
}

// As Wine 8 does.
BOOL WINAPI writes_nothing(HANDLE, PROCESS_MITIGATION_POLICY, void*, SIZE_T) { return TRUE; }

BOOL WINAPI fails(HANDLE, PROCESS_MITIGATION_POLICY, void* into, SIZE_T bytes) {
  std::memset(into, 0, bytes);
  return FALSE;
}

// The numbers are those of PROCESS_MITIGATION_POLICY on Microsoft Learn.
TEST(MitigationPoliciesOfAProcess, EachIsAskedFor) {
  const MitigationPolicies policies = read_mitigation_policies(GetCurrentProcess(), writes_number_of_policy);
  EXPECT_EQ(policies.dynamic_code, 102u);
  EXPECT_EQ(policies.control_flow_guard, 107u);
  EXPECT_EQ(policies.signature, 108u);
  EXPECT_EQ(policies.image_load, 110u);
  EXPECT_EQ(policies.shadow_stack, 115u);
  EXPECT_FALSE(policies.dll_is_remote);
}

TEST(MitigationPoliciesOfAProcess, OnASystemThatKnowsFewer) {
  const MitigationPolicies policies = read_mitigation_policies(GetCurrentProcess(), knows_signatures_only);
  EXPECT_TRUE(policies.signature);
  EXPECT_FALSE(policies.control_flow_guard || policies.shadow_stack || policies.image_load || policies.dynamic_code);
}

TEST(MitigationPoliciesOfAProcess, AnAnswerThatWasNotWrittenIsNone) {
  EXPECT_FALSE(any_known(read_mitigation_policies(GetCurrentProcess(), writes_nothing)));
  EXPECT_FALSE(any_known(read_mitigation_policies(GetCurrentProcess(), fails)));
  EXPECT_FALSE(any_known(read_mitigation_policies(nullptr, writes_number_of_policy)));
  EXPECT_FALSE(any_known(read_mitigation_policies(std::uint32_t{0})));  // no process has this id
}

// Of the system itself: Wine 8 tells nothing, and Windows tells that this program may load any DLL.
TEST(MitigationPoliciesOfAProcess, ThatHasNoneRefusesNothing) {
  EXPECT_FALSE(mitigation_refusal(read_mitigation_policies(GetCurrentProcessId()), "this process"));
}

}  // namespace
}  // namespace mixwalk
