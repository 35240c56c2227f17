#pragma once

#include <span>

#include "walker/hang/findings.h"
#include "walker/hang/fleet.h"
#include "walker/report/report_tables.h"

namespace mixwalk {

// Writes what a comparison of a report's dumps found, an object. Threads are the histories of `findings`, and places in
// them indices into the dumps, which the report has in the same order. `dumps`: those that the findings were made of.
// `across`: what the processes have in common; null: not asked for.
void write_findings_data(std::span<const Snapshot> dumps, const Findings& findings, const Fleet* across,
                         ReportTables& tables, JsonWriter& json);

}  // namespace mixwalk
