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
  json.field("thread", part.thread);
  json.field("dump", part.dump);
  json.values("frames",
              significant_frames(names, names.snapshot().threads[thread].stack.frames, part.frame, kFindingFrames));
  json.field("words", part.words);
}

void write_finding(const std::vector<FrameNames>& names, const Findings& findings, const Finding& finding,
                   JsonWriter& json) {
  json.field("kind", enum_name(finding.kind));
  json.field("severity", enum_name(finding.severity));
  json.field("title", finding.title);
  json.values("details", finding.details);
  json.objects("threads", finding.threads, [&](const FindingThread& part) {
    const Sighting& sighting = sighting_of(findings, part);
    write_part(part, names[sighting.dump], sighting.thread, json);
  });
  json.values("behind", finding.behind);
}

void write_history(const ThreadHistory& history, ReportTables& tables, JsonWriter& json) {
  json.field("verdict", enum_name(history.verdict));
  json.field("since", history.since);
  json.field("ms", history.milliseconds);
  if (history.cpu) json.field("cpu", *history.cpu);
  // For each dump that contains the thread: dump, thread in that dump, what it does, what it waits for (a string).
  json.array("seen", history.sightings, [&](const Sighting& sighting) {
    json.begin_array();
    json.value(sighting.dump);
    json.value(sighting.thread);
    json.value(enum_name(sighting.wait.state));
    json.value(tables.string(sighting.wait.words));
    json.end_array();
  });
}

void write_across(const Fleet& fleet, JsonWriter& json) {
  json.begin_object();
  json.array("sick", fleet.in_trouble, [&](bool in_trouble) { json.value(in_trouble); });
  json.objects("groups", fleet.groups, [&](const FleetGroup& group) {
    json.values("threads", group.threads);
    json.values("counts", group.counts);
    json.field("only_sick", group.only_in_trouble);
  });
  json.end_object();
}

}  // namespace

void write_findings_data(std::span<const Snapshot> dumps, const Findings& findings, const Fleet* across,
                         ReportTables& tables, JsonWriter& json) {
  const std::vector<FrameNames> names(dumps.begin(), dumps.end());
  json.begin_object();
  json.field("headline", headline(findings));
  json.field("severity", enum_name(severity(findings)));
  json.objects("findings", findings.findings,
               [&](const Finding& finding) { write_finding(names, findings, finding, json); });
  json.objects("threads", findings.threads,
               [&](const ThreadHistory& history) { write_history(history, tables, json); });
  json.array("files", findings.dumps, [&](const DumpInfo& dump) { json.value(dump.file); });
  // For each dump: its process (by a number, the system's id, its path, its machine, its command line), and its
  // runtime.
  json.array("process", findings.dumps, [&](const DumpInfo& dump) { json.value(dump.process); });
  json.array("pids", dumps, [&](const Snapshot& dump) { json.value(dump.process.id); });
  json.array("paths", dumps, [&](const Snapshot& dump) { json.value(tables.string(dump.process.path)); });
  json.array("hosts", dumps, [&](const Snapshot& dump) { json.value(tables.string(dump.process.host)); });
  json.array("commands", dumps, [&](const Snapshot& dump) { json.value(tables.string(dump.process.command_line)); });
  json.array("runtimes", dumps, [&](const Snapshot& dump) { json.value(tables.string(runtime_text(dump.runtime))); });
  if (across != nullptr) {
    json.key("across");
    write_across(*across, json);
  }
  json.values("gaps", findings.gaps);
  json.end_object();
}

}  // namespace mixwalk
