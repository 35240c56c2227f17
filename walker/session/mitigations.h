#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "walker/base/failure.h"

namespace mixwalk {

// The mitigation policies of a process that decide whether the process loads mixwalk.dll, and what follows from them.
// Pure, and portable; not frozen-safe.

// The flags of each policy as GetProcessMitigationPolicy returns them; nothing if they could not be read.
struct MitigationPolicies {
  std::optional<std::uint32_t> signature;           // PROCESS_MITIGATION_BINARY_SIGNATURE_POLICY
  std::optional<std::uint32_t> control_flow_guard;  // PROCESS_MITIGATION_CONTROL_FLOW_GUARD_POLICY
  std::optional<std::uint32_t> shadow_stack;        // PROCESS_MITIGATION_USER_SHADOW_STACK_POLICY
  std::optional<std::uint32_t> image_load;          // PROCESS_MITIGATION_IMAGE_LOAD_POLICY
  std::optional<std::uint32_t> dynamic_code;        // PROCESS_MITIGATION_DYNAMIC_CODE_POLICY
  bool dll_is_remote = false;                       // mixwalk.dll is on another machine
};

struct MitigationEffect {
  bool refuses;        // the process does not load mixwalk.dll
  const char* found;   // "it loads only …"; one line, no full stop
  std::string advice;  // in the same form
};

// What follows from the policies: first what refuses mixwalk.dll, then what the user should know. Policies that do not
// concern mixwalk.dll have no effect here.
std::vector<MitigationEffect> mitigation_effects(const MitigationPolicies& policies);

// The failure of an attach that the process would refuse, or nothing. `process`: "process 4711 (orders.exe)".
//
// An attach is not even tried then: the loader of Windows may show a dialogue ("Bad Image") in the process that refuses
// a DLL, and the thread that loads the DLL waits until somebody closes the dialogue.
std::optional<Failure> mitigation_refusal(const MitigationPolicies& policies, const std::string& process);

// The names of the policies that are switched on and do not concern mixwalk.dll, such as "Control Flow Guard, no
// dynamic code". Empty if there are none.
std::string harmless_mitigations(const MitigationPolicies& policies);

// Whether at least one policy could be read.
bool any_known(const MitigationPolicies& policies);

}  // namespace mixwalk
