#include "walker/export/findings_json.h"

#include <string>
#include <vector>

#include "walker/base/file_time.h"
#include "walker/export/json_writer.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/shown/frame_label.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

class FindingsJsonWriter {
 public:
  FindingsJsonWriter(std::span<const Snapshot> dumps, const Findings& findings, ByteSink& sink)
      : dumps_(dumps), findings_(findings), json_(sink) {}

  bool write(std::string_view tool_version, const Fleet* fleet) {
    json_.begin_object();
    json_.field("format", "mixwalk-hang");
    json_.field("version", kFindingsJsonVersion);
    json_.field("tool", "mixwalk " + std::string(tool_version));
    const Severity worst = severity(findings_);
    json_.field("result", worst == Severity::note ? std::string_view("nothing-stuck") : enum_name(worst));
    json_.field("headline", headline(findings_));
    json_.objects("dumps", findings_.dumps, [&](const DumpInfo& info) { dump(info); });
    json_.objects("findings", findings_.findings, [&](const Finding& finding) { this->finding(finding); });
    json_.objects("threads", findings_.threads, [&](const ThreadHistory& history) { thread(history); });
    json_.objects("groups", findings_.groups, [&](const StackGroup& group) { this->group(group); });
    json_.values("gaps", findings_.gaps);
    json_.key("across");
    if (fleet == nullptr) {
      json_.literal("null");
    } else {
      across(*fleet);
    }
    json_.end_object();
    return json_.finish();
  }

 private:
  void text_or_null(std::string_view name, std::string_view text) { json_.field_or_null(name, text, !text.empty()); }
  void index_or_null(std::string_view name, std::uint32_t index) {
    json_.field_or_null(name, index, index != 0xFFFF'FFFF);
  }

  void across(const Fleet& fleet) {
    json_.begin_object();
    json_.array("sick", fleet.in_trouble, [&](bool in_trouble) { json_.value(in_trouble); });
    json_.objects("common", fleet.groups, [&](const FleetGroup& group) {
      json_.values("threads", group.threads);
      json_.values("counts", group.counts);
      json_.field("processes", group.processes);
      json_.field("only_sick", group.only_in_trouble);
    });
    json_.end_object();
  }

  void dump(const DumpInfo& info) {
    const auto number = static_cast<std::size_t>(&info - findings_.dumps.data());
    const Snapshot& snapshot = dumps_[number];
    json_.field("file", info.file);
    json_.field("unix_time_ms", info.unix_time_ms);
    json_.field("process", info.process);
    json_.field("process_id", snapshot.process.id);
    json_.field("process_path", snapshot.process.path);
    json_.field("way", enum_name(snapshot.capture));
    json_.field("threads", info.threads);
    json_.objects("locks", snapshot.locks, [&](const Lock& lock) {
      json_.field("kind", enum_name(lock.kind));
      json_.field("address", hex(lock.address));
      text_or_null("type", lock.type);
      json_.field("held", lock.held || lock.owner != 0);
      json_.field_or_null("owner", lock.owner, lock.owner != 0);
      json_.array("waiters", lock.waiters, [&](const LockWaiter& waiter) { json_.value(waiter.os_id); });
    });
    text_or_null("locks_missing", snapshot.locks_missing);
  }

  void finding(const Finding& finding) {
    json_.field("kind", enum_name(finding.kind));
    json_.field("severity", enum_name(finding.severity));
    json_.field("title", finding.title);
    json_.values("details", finding.details);
    json_.field("since", finding.since);
    json_.objects("threads", finding.threads, [&](const FindingThread& part) {
      json_.field("thread", part.thread);
      json_.field("dump", part.dump);
      json_.field("words", part.words);
      index_or_null("frame", part.frame);
      index_or_null("waits_for", part.waits_for);
      json_.values("holds", part.holds);
    });
    json_.values("behind", finding.behind);
  }

  void thread(const ThreadHistory& history) {
    json_.field("os_id", history.os_id);
    json_.field("os_id_hex", hex(history.os_id));
    text_or_null("name", history.name);
    json_.array("roles", role_names(history.roles), [this](std::string_view role) { json_.value(role); });
    json_.field("verdict", enum_name(history.verdict));
    json_.field("since", history.since);
    json_.field_or_null("cpu_ns", history.cpu.value_or(0) * kNsOfTick, history.cpu.has_value());
    json_.field("milliseconds", history.milliseconds);
    json_.field("common_frames", history.common);
    json_.objects("sightings", history.sightings, [&](const Sighting& sighting) {
      json_.field("dump", sighting.dump);
      json_.field("standing", enum_name(sighting.wait.state));
      text_or_null("rule", sighting.wait.rule);
      text_or_null("words", sighting.wait.words);
      index_or_null("frame", sighting.wait.frame);
      index_or_null("program_frame", sighting.wait.program);
    });
  }

  void group(const StackGroup& group) {
    const Sighting& last = findings_.threads[group.threads.front()].last();
    const Snapshot& snapshot = dumps_[last.dump];
    json_.field("verdict", enum_name(group.verdict));
    json_.values("threads", group.threads);
    const Stack& stack = snapshot.threads[last.thread].stack;
    json_.objects("frames", stack.frames, [&](const Frame& frame) {
      json_.field("kind", enum_name(frame.kind));
      json_.field("label", frame_label(snapshot, frame));
      const bool in_module = frame.kind != FrameKind::gap && frame.module != Frame::kNone;
      text_or_null("module_name",
                   in_module ? module_name(snapshot.modules[static_cast<std::size_t>(frame.module)]) : std::string());
      if (!frame.file.empty()) json_.field("file", frame.file);
      if (frame.line != 0) json_.field("line", frame.line);
    });
  }

  std::span<const Snapshot> dumps_;
  const Findings& findings_;
  JsonWriter json_;
};

}  // namespace

bool write_findings_json(std::span<const Snapshot> dumps, const Findings& findings, std::string_view tool_version,
                         ByteSink& sink, const Fleet* fleet) {
  return FindingsJsonWriter(dumps, findings, sink).write(tool_version, fleet);
}

}  // namespace mixwalk
