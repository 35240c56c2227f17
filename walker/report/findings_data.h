#pragma once

#include "walker/hang/findings.h"
#include "walker/report/report_tables.h"

namespace mixwalk {

// Writes what a comparison of a report's dumps found, an object. Threads are the histories of `findings`, and places in
// them indices into the dumps, which the report has in the same order.
void write_findings_data(const Findings& findings, ReportTables& tables, JsonWriter& json);

}  // namespace mixwalk
