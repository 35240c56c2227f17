#include "walker/report/html_exporter.h"

#include <fmt/format.h>

#include "walker/export/dump_format.h"
#include "walker/export/words.h"
#include "walker/model/series.h"
#include "walker/report/dump_data.h"
#include "walker/report/findings_data.h"
#include "walker/report/html_page.h"
#include "walker/report/recording_data.h"

namespace mixwalk {
namespace {

std::string runtime_text(const Runtime& runtime) {
  if (runtime.name.empty()) return "no .NET runtime";
  return fmt::format("{} {}.{}.{}", runtime.name, runtime.major, runtime.minor, runtime.build);
}

// What a dump and a recording have in common.
void write_head(const auto& from, JsonWriter& json) {
  json.field("format", "mixwalk-report");
  json.field("version", HtmlExporter::kVersion);
  json.field("tool", "mixwalk " + from.tool_version);
  json.field("engine", key(from.engine));
  json.field("runtime", runtime_text(from.runtime));
  json.key("process");
  json.begin_object();
  json.field("id", from.process.id);
  json.field("path", from.process.path);
  json.field("command_line", from.process.command_line);
  json.end_object();
}

}  // namespace

bool HtmlExporter::write(const Snapshot& snapshot, ByteSink& sink) const {
  return write_series({&snapshot, 1}, sink);
}

bool HtmlExporter::write_series(std::span<const Snapshot> dumps, ByteSink& sink) const {
  return write_dumps(dumps, nullptr, sink);
}

bool HtmlExporter::write_findings(std::span<const Snapshot> dumps, const Findings& findings, ByteSink& sink) const {
  return write_dumps(dumps, &findings, sink);
}

bool HtmlExporter::write_dumps(std::span<const Snapshot> dumps, const Findings* findings, ByteSink& sink) const {
  return write_html_page(
      [&](JsonWriter& json) {
        ReportTables tables;
        json.begin_object();
        write_head(dumps.back(), json);
        json.array("dumps", dumps, [&](const Snapshot& dump) { write_dump_data(dump, filter_, tables, json); });
        if (findings != nullptr) {
          json.key("findings");
          write_findings_data(dumps, *findings, tables, json);
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
        write_head(recording, json);
        json.key("recording");
        write_recording_data(recording, tables, json);
        tables.write(json);
        json.end_object();
      },
      sink);
}

std::string html_refusal(const Recording& recording) {
  return recording.event == SampleEvent::dump ? series_refusal(recording) : std::string();
}

}  // namespace mixwalk
