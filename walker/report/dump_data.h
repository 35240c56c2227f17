#pragma once

#include "walker/export/exporter.h"
#include "walker/report/report_tables.h"

namespace mixwalk {

// Writes one dump of a report, as an object: when and how it was made, its threads with their stacks in `tables`, its
// locks.
void write_dump_data(const Snapshot& snapshot, const FrameFilter& filter, ReportTables& tables, JsonWriter& json);

}  // namespace mixwalk
