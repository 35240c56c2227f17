#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "walker/cli/options/options.h"
#include "walker/cli/output/doctor_report.h"

namespace mixwalk {

// What mixwalk doctor checks.

// The results for this machine and this user, independent of any process.
std::vector<DoctorLine> look_at_machine(const SymbolChoice& symbols);

// Adds the results for one process. `trial`: mixwalk.dll is loaded into the process, and its threads are dumped for two
// seconds; otherwise the process is only read. No symbol server is asked.
void look_at_process(std::uint32_t process_id, bool trial, const SymbolChoice& symbols, DoctorReport& report);

}  // namespace mixwalk
