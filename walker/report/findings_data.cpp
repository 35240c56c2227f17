#include "walker/report/findings_data.h"

#include <algorithm>
#include <string>
#include <vector>

#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

// The sighting in which the finding shows the thread.
const Sighting& sighting_of(const Findings& findings, const FindingThread& part) {
  const ThreadHistory& history = findings.threads[part.thread];
  const auto seen = std::ranges::find(history.sightings, part.dump, &Sighting::dump);
  return seen == history.sightings.end() ? history.last() : *seen;
}

void write_part(const FindingThread& part, const FrameNames& names, std::uint32_t thread, JsonWriter& json) {
  json.begin_object();
  json.field("thread", part.thread);
  json.field("dump", part.dump);
  json.array("frames",
             significant_frames(names, names.snapshot().threads[thread].stack.frames, part.frame, kFindingFrames),
             [&](std::uint32_t frame) { json.value(frame); });
  json.field("words", part.words);
  json.end_object();
}

void write_finding(const std::vector<FrameNames>& names, const Findings& findings, const Finding& finding,
                   JsonWriter& json) {
  json.begin_object();
  json.field("kind", key(finding.kind));
  json.field("severity", key(finding.severity));
  json.field("title", finding.title);
  json.array("details", finding.details, [&](const std::string& detail) { json.value(detail); });
  json.array("threads", finding.threads, [&](const FindingThread& part) {
    const Sighting& sighting = sighting_of(findings, part);
    write_part(part, names[sighting.dump], sighting.thread, json);
  });
  json.array("behind", finding.behind, [&](std::uint32_t thread) { json.value(thread); });
  json.end_object();
}

void write_history(const ThreadHistory& history, ReportTables& tables, JsonWriter& json) {
  json.begin_object();
  json.field("verdict", key(history.verdict));
  json.field("since", history.since);
  json.field("ms", history.milliseconds);
  if (history.cpu) json.field("cpu", *history.cpu);
  // For each dump that contains the thread: dump, thread in that dump, what it does, what it waits for (a string).
  json.array("seen", history.sightings, [&](const Sighting& sighting) {
    json.begin_array();
    json.value(sighting.dump);
    json.value(sighting.thread);
    json.value(key(sighting.wait.state));
    json.value(tables.string(sighting.wait.words));
    json.end_array();
  });
  json.end_object();
}

void write_across(const Fleet& fleet, JsonWriter& json) {
  json.begin_object();
  json.array("sick", fleet.in_trouble, [&](bool in_trouble) { json.value(in_trouble); });
  json.array("groups", fleet.groups, [&](const FleetGroup& group) {
    json.begin_object();
    json.array("threads", group.threads, [&](std::uint32_t thread) { json.value(thread); });
    json.array("counts", group.counts, [&](std::uint32_t count) { json.value(count); });
    json.field("only_sick", group.only_in_trouble);
    json.end_object();
  });
  json.end_object();
}

}  // namespace

void write_findings_data(std::span<const Snapshot> dumps, const Findings& findings, const Fleet* across,
                         ReportTables& tables, JsonWriter& json) {
  const std::vector<FrameNames> names(dumps.begin(), dumps.end());
  json.begin_object();
  json.field("headline", headline(findings));
  json.field("severity", key(severity(findings)));
  json.array("findings", findings.findings,
             [&](const Finding& finding) { write_finding(names, findings, finding, json); });
  json.array("threads", findings.threads, [&](const ThreadHistory& history) { write_history(history, tables, json); });
  json.array("files", findings.dumps, [&](const DumpInfo& dump) { json.value(dump.file); });
  // For each dump: its process (by a number, the system's id, its path and its command line), and its runtime.
  json.array("process", findings.dumps, [&](const DumpInfo& dump) { json.value(dump.process); });
  json.array("pids", dumps, [&](const Snapshot& dump) { json.value(dump.process.id); });
  json.array("paths", dumps, [&](const Snapshot& dump) { json.value(tables.string(dump.process.path)); });
  json.array("commands", dumps, [&](const Snapshot& dump) { json.value(tables.string(dump.process.command_line)); });
  json.array("runtimes", dumps, [&](const Snapshot& dump) { json.value(tables.string(runtime_text(dump.runtime))); });
  if (across != nullptr) {
    json.key("across");
    write_across(*across, json);
  }
  json.array("gaps", findings.gaps, [&](const std::string& gap) { json.value(gap); });
  json.end_object();
}

}  // namespace mixwalk
