#pragma once

#include <vector>

#include "symbols/server/http_get.h"
#include "symbols/symbol_path.h"
#include "walker/cli/options/options.h"
#include "walker/cli/output/doctor_report.h"

namespace mixwalk {

// The results of doctor for the symbol path of a command: a line for each folder, for each server, which is asked, and
// for each part that is not used.
std::vector<DoctorLine> symbol_path_lines(const SymbolPath& path, const SymbolLimits& limits, HttpGet& http);

}  // namespace mixwalk
