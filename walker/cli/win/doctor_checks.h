#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "walker/cli/output/doctor_report.h"

namespace mixwalk {

// What mixwalk doctor checks. `symbol_path`: the text for SymbolPath.

// The results for this machine and this user, independent of any process.
std::vector<DoctorLine> look_at_machine(const std::string& symbol_path);

// Adds the results for one process. `trial`: mixwalk.dll is loaded into the process, and its threads are dumped for two
// seconds; otherwise the process is only read.
void look_at_process(std::uint32_t process_id, bool trial, const std::string& symbol_path, DoctorReport& report);

}  // namespace mixwalk
