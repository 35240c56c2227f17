#pragma once

#include <windows.h>

#include "walker/session/mitigations.h"

namespace mixwalk {

// Asks the system for the mitigation policies of a process. `process` needs PROCESS_QUERY_INFORMATION; null: nothing is
// known. `ask` is for tests. Not frozen-safe.
//
// Folklore: GetProcessMitigationPolicy of Wine 8 returns TRUE and writes nothing, so every policy seemed to be switched
// off. Remedy: the buffer contains a value first that no policy has. Test: mitigation_policies_test.
using AskForPolicy = BOOL(WINAPI*)(HANDLE, PROCESS_MITIGATION_POLICY, void*, SIZE_T);
MitigationPolicies read_mitigation_policies(HANDLE process, AskForPolicy ask = GetProcessMitigationPolicy);
MitigationPolicies read_mitigation_policies(std::uint32_t process_id);

}  // namespace mixwalk
