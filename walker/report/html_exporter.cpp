#include "walker/report/html_exporter.h"

#include "walker/export/dump_format.h"
#include "walker/model/series.h"
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
  json.field("version", HtmlExporter::kVersion);
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

bool HtmlExporter::write(const Snapshot& snapshot, ByteSink& sink) const {
  return write_series({&snapshot, 1}, sink);
}

bool HtmlExporter::write_series(std::span<const Snapshot> dumps, ByteSink& sink) const {
  return write_dumps(dumps, nullptr, nullptr, sink);
}

bool HtmlExporter::write_findings(std::span<const Snapshot> dumps, const Findings& findings, ByteSink& sink,
                                  const Fleet* across) const {
  return write_dumps(dumps, &findings, across, sink);
}

bool HtmlExporter::write_dumps(std::span<const Snapshot> dumps, const Findings* findings, const Fleet* across,
                               ByteSink& sink) const {
  return write_html_page(
      [&](JsonWriter& json) {
        ReportTables tables;
        json.begin_object();
        write_head(dumps.back(), note_, json);
        json.array("dumps", dumps, [&](const Snapshot& dump) { write_dump_data(dump, filter_, tables, json); });
        if (findings != nullptr) {
          json.key("findings");
          write_findings_data(dumps, *findings, across, tables, json);
        }
        tables.write(json);
        json.end_object();
      },
      sink);
}

bool HtmlExporter::write(const Recording& recording, ByteSink& sink) const {
  if (recording.event == SampleEvent::dump) return write_series(to_series(recording), sink);
  return write_html_page(
      [&](JsonWriter& json) {
        ReportTables tables;
        json.begin_object();
        write_head(recording, note_, json);
        json.key("recording");
        write_recording_data(recording, !filter_.all, tables, json);
        tables.write(json);
        json.end_object();
      },
      sink);
}

bool HtmlExporter::write_difference(const Recording& before, const Recording& after,
                                    const std::array<std::string, 2>& files, ByteSink& sink) const {
  return write_html_page(
      [&](JsonWriter& json) {
        ReportTables tables;
        json.begin_object();
        write_head(after, note_, json);
        json.key("compared");
        json.begin_array();
        write_compared_recording_data(before, files[0], !filter_.all, tables, json);
        write_compared_recording_data(after, files[1], !filter_.all, tables, json);
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
