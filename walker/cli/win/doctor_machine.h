#pragma once

#include <vector>

#include "walker/cli/doctor_report.h"

namespace mixwalk {

// What mixwalk doctor says of this machine and this user, whichever process is looked at. `symbol_path`: SymbolPath's
// text.
std::vector<DoctorLine> look_at_machine(const std::string& symbol_path);

}  // namespace mixwalk
