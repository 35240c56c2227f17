// Writes a recording of tests/builders/recordings.h in one format, for the programs that must be able to open it, and
// the facts that they must find in it.
// usage: write_export RECORDING FORMAT FILE
// RECORDING is one of kRecordings, or with html one of kSnapshots or kPages. FORMAT is one of kFormats, facts, or image
// (the file kImageOnDisk).

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/builders/recordings.h"
#include "tests/builders/report_samples.h"
#include "tests/support/repository_files.h"
#include "walker/base/utf8.h"
#include "walker/export/chrome_trace.h"
#include "walker/export/collapsed.h"
#include "walker/export/firefox_profile.h"
#include "walker/export/otlp.h"
#include "walker/export/pprof.h"
#include "walker/export/speedscope.h"
#include "walker/hang/findings.h"
#include "walker/hang/standings.h"
#include "walker/model/recording_builder.h"
#include "walker/model/series.h"
#include "walker/report/html.h"
#include "walker/shown/frame_label.h"
#include "walker/shown/image_id.h"
#include "walker/shown/shown_stacks.h"
#include "walker/shown/words.h"
#include "walker/store/recording_reader.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {
namespace {

using Json = nlohmann::ordered_json;

const std::map<std::string, std::function<bool(const Recording&, ByteSink&)>> kFormats = {
    {"collapsed", [](const Recording& recording, ByteSink& sink) { return write_collapsed(recording, sink); }},
    {"collapsed-plain",
     [](const Recording& recording, ByteSink& sink) {
       return write_collapsed(recording, sink, {.annotate = false, .threads = true});
     }},
    {"speedscope", &write_speedscope},
    {"pprof", &write_pprof},
    {"otlp",
     [](const Recording& recording, ByteSink& sink) {
       RecordedImages images;
       return write_otlp(recording, images, sink);
     }},
    {"firefox_profile", &write_firefox_profile},
    {"chrome_trace", &write_chrome_trace},
    {"html",
     [](const Recording& recording, ByteSink& sink) {
       if (recording.event == SampleEvent::dump) return write_html_dumps(to_series(recording), {}, sink);
       return write_html_recording(ShownRecording(recording, true), {}, sink);
     }},
    {"mixwalk", &write_store},
};

Recording stored_recording(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  ReadRecording read = read_recording(bytes);
  if (!read.recording) throw std::runtime_error(path + ": " + read.error);
  return std::move(*read.recording);
}

// A UI thread that waits for messages, and a worker, to which the system gave the id of a thread that had ended.
Recording idle_recording() {
  RecordingBuilder builder;
  Recording& recording = builder.recording();
  recording.event = SampleEvent::wall;
  recording.period_ns = 10'000'000;
  recording.duration_ns = 40'000'000;
  recording.process = {4711, "C:\\orders\\orders.exe", {}, "WEB7"};
  recording.modules = {{0x1000, 0x1000, 1, "C:\\Windows\\System32\\ntdll.dll"},
                       {0x2000, 0x1000, 2, "C:\\Windows\\System32\\win32u.dll"},
                       {0x3000, 0x1000, 3, "C:\\dotnet\\coreclr.dll"}};
  const auto native = [](std::int32_t module, std::string name) {
    return StackFrame(Frame{.address_kind = AddressKind::return_address, .address = 0x1010 + 0x1000ull * module,
                            .module = module, .name = std::move(name), .symbol = SymbolKind::pdb});
  };
  const auto runtime = [](std::uint64_t address) {
    return StackFrame(Frame{.address_kind = AddressKind::return_address, .address = address, .module = 2});
  };
  const auto managed = [](std::string name) {
    return StackFrame(Frame{.kind = FrameKind::managed, .name = std::move(name)});
  };
  Stack ui, work;
  ui.frames = {native(1, "NtUserGetMessage"),
               managed("System.Windows.Forms.Application.Run(System.Windows.Forms.Form)"),
               managed("Orders.Program.Main()"),
               runtime(0x3100),
               runtime(0x3200),
               native(0, "RtlUserThreadStart")};
  ui.frames.front().address_kind = AddressKind::instruction_pointer;
  work.frames = {managed("Orders.Work.Price()"), managed("System.Threading.Thread.StartCallback()"), runtime(0x3300),
                 runtime(0x3200), native(0, "RtlUserThreadStart")};
  const std::uint32_t first = builder.add_thread(0x10, 1, "ui"), second = builder.add_thread(0x10, 2, "worker");
  for (std::uint64_t i = 1; i <= 4; ++i) {
    recording.samples.push_back({.time_ns = i * 10'000'000, .value = 10'000'000, .thread = i < 4 ? first : second,
                                 .stack = builder.add_stack(i < 4 ? ui : work)});
  }
  return std::move(recording);
}

const std::map<std::string, std::function<Recording()>> kRecordings = {
    {"representative", [] { return representative_recording(); }},
    {"exception", [] { return representative_recording(SampleEvent::exception); }},
    {"class-load", [] { return representative_recording(SampleEvent::class_load); }},
    {"module-load", [] { return representative_recording(SampleEvent::module_load); }},
    {"dump", [] { return representative_recording(SampleEvent::dump); }},
    {"empty", [] { return Recording{}; }},
    // What `record --on exception=…` writes if nothing of that type was thrown.
    {"no-exception",
     [] {
       Recording recording = representative_recording(SampleEvent::exception);
       recording.samples.clear();
       return recording;
     }},
    {"overloads", [] { return overloads_recording(); }},
    {"crowded", [] { return crowded_recording(SampleEvent::wall); }},
    {"crowded-exceptions", [] { return crowded_recording(SampleEvent::exception); }},
    {"idle", [] { return idle_recording(); }},
    {"large", [] { return large_recording({}); }},
    {"long", [] { return large_recording({.samples = 1'440'000}); }},
    {"parked", [] { return parked_recording({.threads = 3, .seconds = 60}); }},
    {"parked-hour", [] { return parked_recording({.hz = 100}); }},
    // `mixwalk record` made this file from fixtures/sqlite, parked.
    {"sqlite", [] { return stored_recording(repository_file("tests/golden/sqlite.mixwalk")); }},
};

// Dumps with content that a recording does not keep; only for html.
const std::map<std::string, std::function<std::vector<Snapshot>()>> kSnapshots = {
    {"hostile", [] { return std::vector{hostile_snapshot()}; }},
    {"hostile-tasks", [] { return std::vector{hostile_tasks_snapshot()}; }},
    {"many-threads", [] { return std::vector{many_threads_snapshot(1000)}; }},
    {"two-thousand-threads", [] { return std::vector{many_threads_snapshot(2000)}; }},
    {"series", [] { return series_of_snapshots(); }},
    {"many-threads-series",
     [] {
       return std::vector{many_threads_snapshot(1000, 0), many_threads_snapshot(1000, 1),
                          many_threads_snapshot(1000, 2)};
     }},
};

// Pages that compare several dumps or recordings.
const std::map<std::string, std::function<bool(ByteSink&)>> kPages = {
    {"deadlock",
     [](ByteSink& sink) {
       const std::vector<Snapshot> dumps = deadlock_snapshots();
       const std::vector<std::string> files = {"a.mixwalk", hostile_names()[0]};
       const Findings findings = find_hangs(dumps, files);
       return write_html_dumps(dumps, {}, sink, &findings);
     }},
    {"fleet",
     [](ByteSink& sink) {
       std::vector<Snapshot> dumps = mixed_fleet_snapshots();
       std::rotate(dumps.begin(), dumps.begin() + 2, dumps.end());  // those in trouble come last, and are shown first
       for (Snapshot& dump : dumps) dump.process.host = "WEB" + std::to_string(dump.process.id);
       const std::vector<std::string> files = {hostile_names()[0], "web4.mixwalk", "web1.mixwalk", "web2.mixwalk"};
       const Findings findings = find_hangs(dumps, files);
       const Fleet fleet = find_fleet(dumps, findings);
       return write_html_dumps(dumps, {}, sink, &findings, &fleet);
     }},
    {"large-fleet",
     [](ByteSink& sink) {
       Snapshot dump = fleet_snapshots().front();
       std::erase_if(dump.threads, [](const Thread& thread) { return thread.os_id >= 0x300; });
       std::vector<Snapshot> dumps(60, dump);
       std::vector<std::string> files;
       for (std::uint32_t i = 0; i < dumps.size(); ++i) {
         dumps[i].process.id = 100 + i;
         files.push_back(fmt::format("web{}.mixwalk", i));
       }
       const Findings findings = find_hangs(dumps, files);
       const Fleet fleet = find_fleet(dumps, findings);
       return write_html_dumps(dumps, {}, sink, &findings, &fleet);
     }},
    {"difference",
     [](ByteSink& sink) {
       auto [before, after] = compared_recordings();
       mark_standings(before);
       mark_standings(after);
       return write_html_difference(ShownRecording(before, true), ShownRecording(after, true),
                                    {"before.mixwalk", hostile_names()[0]}, "", sink);
     }},
};

// Returns every sample with its whole stack, directly from the recording, without the tables of an exporter. A stack is
// numbers of `frames`, because a frame of thousands of samples would be most of the file.
Json facts(const Recording& recording) {
  Json json = {{"unix_time_ms", recording.unix_time_ms},
               {"duration_ns", recording.duration_ns},
               {"period_ns", recording.period_ns},
               {"dropped", recording.dropped},
               {"event", enum_name(recording.event)}};
  json["modules"] = Json::array();
  for (const Module& module : recording.modules) {
    json["modules"].push_back({{"base", module.base}, {"size", module.size},
                               {"timestamp", module.timestamp}, {"path", module.path},
                               {"pdb", pdb_path(module)}, {"debug_id", debug_id(module)},
                               {"build_id", module.code_view ? build_id(*module.code_view) : ""}});
  }
  json["threads"] = Json::array();
  for (const Recording::ThreadInfo& thread : recording.threads) {
    json["threads"].push_back({{"os_id", thread.os_id}, {"label", thread_label(thread)}});
  }
  json["frames"] = Json::array();
  for (const Frame& frame : recording.frames) {
    json["frames"].push_back({{"label", utf8_label(recording.modules, frame)},
                              {"name", frame.name},
                              {"kind", enum_name(frame.kind)},
                              {"symbol", enum_name(frame.symbol)},
                              {"file", valid_utf8(frame.file)},
                              {"line", frame.line},
                              {"inline_depth", frame.inline_depth},
                              {"address", frame.address},
                              {"return_address", frame.address_kind == AddressKind::return_address},
                              {"module", frame.module}});
  }
  json["samples"] = Json::array();
  for (const Recording::Sample& sample : recording.samples) {
    Json frames = Json::array();
    for (const std::uint32_t index : stack_frames(recording, sample.stack)) frames.push_back(index);
    const bool detailed = sample.detail != Recording::kNone;
    json["samples"].push_back(
        {{"time_ns", sample.time_ns}, {"value", sample.value}, {"thread", sample.thread},
         {"standing", enum_name(sample.standing)},
         {"detail", detailed ? Json(recording.details[sample.detail]) : Json(nullptr)},
         {"frames", std::move(frames)}});
  }
  return json;
}

bool is_other(const std::string& format) { return format == "facts" || format == "image"; }

int run(const std::string& name, const std::string& format, const std::string& path) {
  const auto snapshot = format == "html" ? kSnapshots.find(name) : kSnapshots.end();
  const auto recording = kRecordings.find(name);
  const auto exporter = kFormats.find(format);
  const auto page = format == "html" ? kPages.find(name) : kPages.end();
  if (page == kPages.end() && snapshot == kSnapshots.end() &&
      (recording == kRecordings.end() || (exporter == kFormats.end() && !is_other(format)))) {
    fmt::print(stderr, "write_export: no recording {} or no format {}\n", name, format);
    return 2;
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                            &std::fclose);
  if (!file) {
    fmt::print(stderr, "write_export: {} cannot be written\n", path);
    return 1;
  }
  FileSink sink(file.get());
  if (page != kPages.end()) return page->second(sink) ? 0 : 1;
  if (snapshot != kSnapshots.end()) return write_html_dumps(snapshot->second(), {}, sink) ? 0 : 1;
  Recording made = recording->second();
  complete_standings(made);
  if (format == "image") {
    const auto bytes = *RecordedImages().read(kImageOnDisk);
    return sink.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) ? 0 : 1;
  }
  if (format == "facts") {
    constexpr auto kReplace = Json::error_handler_t::replace;
    return sink.write(facts(made).dump(1, ' ', true, kReplace)) ? 0 : 1;
  }
  return exporter->second(made, sink) ? 0 : 1;
}

}  // namespace
}  // namespace mixwalk

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: write_export RECORDING FORMAT FILE\n", stderr);
    return 2;
  }
  return mixwalk::run(argv[1], argv[2], argv[3]);
}
