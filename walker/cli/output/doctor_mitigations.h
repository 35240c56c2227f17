#pragma once

#include <vector>

#include "walker/cli/output/doctor_report.h"
#include "walker/session/mitigations.h"

namespace mixwalk {

// The lines of mixwalk doctor about the mitigation policies of a process: a line for each effect of them, or one line
// if they have no effect. No line if no policy could be read. Pure.
std::vector<DoctorLine> mitigation_lines(const MitigationPolicies& policies);

}  // namespace mixwalk
