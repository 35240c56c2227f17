#pragma once

#include <cstdint>
#include <string>

#include "walker/cli/doctor_report.h"

namespace mixwalk {

// Adds what mixwalk doctor says of one process. `trial`: mixwalk.dll goes into it, and its threads are dumped for two
// seconds; otherwise it is only read. `symbol_path`: SymbolPath's text.
void look_at_process(std::uint32_t process_id, bool trial, const std::string& symbol_path, DoctorReport& report);

}  // namespace mixwalk
