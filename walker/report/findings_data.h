#pragma once

#include <span>

#include "walker/hang/findings.h"
#include "walker/hang/fleet.h"
#include "walker/report/report_tables.h"

namespace mixwalk {

// Writes the result of a comparison of a report's dumps, as an object. Threads are the histories of `findings`.
// Sightings are given as indices into the dumps. The dumps are in the same order as in the report. `dumps`: the dumps
// of the comparison. `across`: what the processes have in common; null if that was not asked for.
void write_findings_data(std::span<const Snapshot> dumps, const Findings& findings, const Fleet* across,
                         ReportTables& tables, JsonWriter& json);

}  // namespace mixwalk
