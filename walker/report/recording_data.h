#pragma once

#include <string_view>

#include "walker/export/shown_recording.h"
#include "walker/report/report_tables.h"

namespace mixwalk {

// Writes the recording of a report, as an object: what was recorded, and for each thread the sums of its samples by
// stack, and what the thread did over time. The stacks are in `tables`; those of the sums are folded.
void write_recording_data(const ShownRecording& shown, ReportTables& tables, JsonWriter& json);

// Writes one of several recordings of a report, as an object: its file and process, what was recorded, and the sums.
void write_compared_recording_data(const ShownRecording& shown, std::string_view file, ReportTables& tables,
                                   JsonWriter& json);

}  // namespace mixwalk
