#pragma once

#include <string_view>

#include "walker/model/recording.h"
#include "walker/report/report_tables.h"

namespace mixwalk {

// Writes the recording of a report, as an object: what was recorded, and for each thread the sums of its samples by
// stack, and what the thread did over time. The stacks are in `tables`. `fold`: as in RecordedStacks, for the sums.
void write_recording_data(const Recording& recording, bool fold, ReportTables& tables, JsonWriter& json);

// Writes one of several recordings of a report, as an object: its file and process, what was recorded, and the sums.
void write_compared_recording_data(const Recording& recording, std::string_view file, bool fold, ReportTables& tables,
                                   JsonWriter& json);

}  // namespace mixwalk
