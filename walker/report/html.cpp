#include "walker/report/html.h"

#include "walker/export/dump_format.h"
#include "walker/report/dump_data.h"
#include "walker/report/findings_data.h"
#include "walker/report/html_page.h"
#include "walker/report/recording_data.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

// Writes the parts that a dump and a recording have in common.
void write_head(const auto& from, const std::string& note, JsonWriter& json) {
  json.field("format", "mixwalk-report");
  json.field("version", kHtmlDataVersion);
  if (!note.empty()) json.field("note", note);
  json.field("tool", "mixwalk " + from.tool_version);
  json.field("engine", enum_name(from.engine));
  json.field("runtime", runtime_text(from.runtime));
  json.key("process");
  json.begin_object();
  json.field("id", from.process.id);
  json.field("path", from.process.path);
  json.field("command_line", from.process.command_line);
  json.field("host", from.process.host);
  json.end_object();
}

}  // namespace

bool write_html_dumps(std::span<const Snapshot> dumps, const ShowOptions& options, ByteSink& sink,
                      const Findings* findings, const Fleet* across) {
  return write_html_page(
      [&](JsonWriter& json) {
        ReportTables tables;
        json.begin_object();
        write_head(dumps.back(), options.note, json);
        json.array("dumps", dumps, [&](const Snapshot& dump) { write_dump_data(dump, options.filter, tables, json); });
        if (findings != nullptr) {
          json.key("findings");
          write_findings_data(dumps, *findings, across, tables, json);
        }
        tables.write(json);
        json.end_object();
      },
      sink);
}

bool write_html_recording(const ShownRecording& shown, const ShowOptions& options, ByteSink& sink) {
  return write_html_page(
      [&](JsonWriter& json) {
        ReportTables tables;
        json.begin_object();
        write_head(shown.recording, options.note, json);
        json.key("recording");
        write_recording_data(shown, tables, json);
        tables.write(json);
        json.end_object();
      },
      sink);
}

bool write_html_difference(const ShownRecording& before, const ShownRecording& after,
                           const std::array<std::string, 2>& files, const std::string& note, ByteSink& sink) {
  return write_html_page(
      [&](JsonWriter& json) {
        ReportTables tables;
        json.begin_object();
        write_head(after.recording, note, json);
        json.key("compared");
        json.begin_array();
        write_compared_recording_data(before, files[0], tables, json);
        write_compared_recording_data(after, files[1], tables, json);
        json.end_array();
        tables.write(json);
        json.end_object();
      },
      sink);
}

std::string html_refusal(const Recording& recording) {
  return recording.event == SampleEvent::dump ? series_refusal(recording) : std::string();
}

}  // namespace mixwalk
