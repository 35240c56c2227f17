#include "walker/export/findings_json.h"

#include <string>
#include <vector>

#include "symbols/demangle/managed_name.h"
#include "walker/export/json_writer.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/shown/frame_label.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

class Writer {
 public:
  Writer(std::span<const Snapshot> dumps, const Findings& findings, ByteSink& sink)
      : dumps_(dumps), findings_(findings), json_(sink) {}

  bool write(std::string_view tool_version, const Fleet* fleet) {
    json_.begin_object();
    json_.field("format", "mixwalk-hang");
    json_.field("version", kFindingsJsonVersion);
    json_.field("tool", "mixwalk " + std::string(tool_version));
    const Severity worst = severity(findings_);
    json_.field("result", worst == Severity::note ? std::string_view("nothing-stuck") : key(worst));
    json_.field("headline", headline(findings_));
    json_.array("dumps", findings_.dumps, [&](const DumpInfo& info) { dump(info); });
    json_.array("findings", findings_.findings, [&](const Finding& finding) { this->finding(finding); });
    json_.array("threads", findings_.threads, [&](const ThreadHistory& history) { thread(history); });
    json_.array("groups", findings_.groups, [&](const StackGroup& group) { this->group(group); });
    json_.array("gaps", findings_.gaps, [&](const std::string& gap) { json_.value(gap); });
    json_.key("across");
    fleet == nullptr ? json_.literal("null") : across(*fleet);
    json_.end_object();
    return json_.finish();
  }

 private:
  void numbers(std::string_view name, const std::vector<std::uint32_t>& values) {
    json_.array(name, values, [&](std::uint32_t value) { json_.value(value); });
  }
  void text_or_null(std::string_view name, std::string_view text) {
    json_.key(name);
    text.empty() ? json_.literal("null") : json_.value(text);
  }
  void index_or_null(std::string_view name, std::uint32_t index) {
    json_.key(name);
    index == 0xFFFF'FFFF ? json_.literal("null") : json_.value(index);
  }

  void across(const Fleet& fleet) {
    json_.begin_object();
    json_.array("sick", fleet.in_trouble, [&](bool in_trouble) { json_.value(in_trouble); });
    json_.array("common", fleet.groups, [&](const FleetGroup& group) {
      json_.begin_object();
      numbers("threads", group.threads);
      numbers("counts", group.counts);
      json_.field("processes", group.processes);
      json_.field("only_sick", group.only_in_trouble);
      json_.end_object();
    });
    json_.end_object();
  }

  void dump(const DumpInfo& info) {
    const auto number = static_cast<std::size_t>(&info - findings_.dumps.data());
    const Snapshot& snapshot = dumps_[number];
    json_.begin_object();
    json_.field("file", info.file);
    json_.field("unix_time_ms", info.unix_time_ms);
    json_.field("process", info.process);
    json_.field("process_id", snapshot.process.id);
    json_.field("process_path", snapshot.process.path);
    json_.field("way", key(snapshot.way));
    json_.field("threads", info.threads);
    json_.array("locks", snapshot.locks, [&](const Lock& lock) {
      json_.begin_object();
      json_.field("kind", key(lock.kind));
      json_.field("address", hex(lock.address));
      text_or_null("type", lock.type);
      json_.field("held", lock.held || lock.owner != 0);
      json_.key("owner");
      lock.owner == 0 ? json_.literal("null") : json_.value(lock.owner);
      json_.array("waiters", lock.waiters, [&](const LockWaiter& waiter) { json_.value(waiter.os_id); });
      json_.end_object();
    });
    text_or_null("locks_missing", snapshot.locks_missing);
    json_.end_object();
  }

  void finding(const Finding& finding) {
    json_.begin_object();
    json_.field("kind", key(finding.kind));
    json_.field("severity", key(finding.severity));
    json_.field("title", finding.title);
    json_.array("details", finding.details, [&](const std::string& detail) { json_.value(detail); });
    json_.field("since", finding.since);
    json_.array("threads", finding.threads, [&](const FindingThread& part) {
      json_.begin_object();
      json_.field("thread", part.thread);
      json_.field("dump", part.dump);
      json_.field("words", part.words);
      index_or_null("frame", part.frame);
      index_or_null("waits_for", part.waits_for);
      numbers("holds", part.holds);
      json_.end_object();
    });
    numbers("behind", finding.behind);
    json_.end_object();
  }

  void thread(const ThreadHistory& history) {
    json_.begin_object();
    json_.field("os_id", history.os_id);
    text_or_null("name", history.name);
    json_.field("verdict", key(history.verdict));
    json_.field("since", history.since);
    json_.key("cpu_ns");
    history.cpu ? json_.value(*history.cpu * 100) : json_.literal("null");
    json_.field("milliseconds", history.milliseconds);
    json_.field("common_frames", history.common);
    json_.array("sightings", history.sightings, [&](const Sighting& sighting) {
      json_.begin_object();
      json_.field("dump", sighting.dump);
      json_.field("standing", key(sighting.wait.state));
      text_or_null("rule", sighting.wait.rule);
      text_or_null("words", sighting.wait.words);
      index_or_null("frame", sighting.wait.frame);
      index_or_null("program_frame", sighting.wait.program);
      json_.end_object();
    });
    json_.end_object();
  }

  void group(const StackGroup& group) {
    const Sighting& last = findings_.threads[group.threads.front()].last();
    const Snapshot& snapshot = dumps_[last.dump];
    json_.begin_object();
    json_.field("verdict", key(group.verdict));
    numbers("threads", group.threads);
    const Stack& stack = snapshot.threads[last.thread].stack;
    json_.array("frames", stack.frames, [&](const Frame& frame) {
      json_.begin_object();
      json_.field("kind", key(frame.kind));
      FrameWords words{.kind = frame.kind, .offset = frame.address, .name = shown_name(frame.kind, frame.name)};
      words.why = frame.why;
      words.target = shown_target(frame.name, frame.target);
      if (frame.module != Frame::kNone) {
        const Module& module = snapshot.modules[static_cast<std::size_t>(frame.module)];
        words.image = module_name(module);
        words.offset -= module.base;
      }
      json_.field("label", frame_label(words));
      if (!frame.file.empty()) json_.field("file", frame.file);
      if (frame.line != 0) json_.field("line", frame.line);
      json_.end_object();
    });
    json_.end_object();
  }

  std::span<const Snapshot> dumps_;
  const Findings& findings_;
  JsonWriter json_;
};

}  // namespace

bool write_findings_json(std::span<const Snapshot> dumps, const Findings& findings, std::string_view tool_version,
                         ByteSink& sink, const Fleet* fleet) {
  return Writer(dumps, findings, sink).write(tool_version, fleet);
}

}  // namespace mixwalk
