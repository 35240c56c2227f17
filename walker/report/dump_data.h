#pragma once

#include "walker/report/report_tables.h"

namespace mixwalk {

// Writes one dump of a report, as an object: when and how it was made, its threads, and its locks. The stacks of the
// threads are added to `tables`.
void write_dump_data(const Snapshot& snapshot, const FrameFilter& filter, ReportTables& tables, JsonWriter& json);

}  // namespace mixwalk
