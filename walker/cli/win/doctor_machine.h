#pragma once

#include <vector>

#include "walker/cli/output/doctor_report.h"

namespace mixwalk {

// The results of mixwalk doctor for this machine and this user, independent of any process. `symbol_path`: the text for
// SymbolPath.
std::vector<DoctorLine> look_at_machine(const std::string& symbol_path);

}  // namespace mixwalk
