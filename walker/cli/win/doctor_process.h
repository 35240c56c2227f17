#pragma once

#include <cstdint>
#include <string>

#include "walker/cli/output/doctor_report.h"

namespace mixwalk {

// Adds the results of mixwalk doctor for one process. `trial`: mixwalk.dll is loaded into the process, and its threads
// are dumped for two seconds; otherwise the process is only read. `symbol_path`: the text for SymbolPath.
void look_at_process(std::uint32_t process_id, bool trial, const std::string& symbol_path, DoctorReport& report);

}  // namespace mixwalk
