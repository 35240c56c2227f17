#include "walker/export/firefox_profile.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "walker/export/firefox_tables.h"
#include "walker/export/json_writer.h"
#include "walker/shown/image_id.h"

namespace mixwalk {
namespace {

// The version of the unprocessed format that corresponds to kVersion. It does not matter for this document.
constexpr int kGeckoVersion = 33;
constexpr int kLibraryResource = 1;

// Nanoseconds in the milliseconds of the format, with all their digits.
std::string milliseconds(std::uint64_t ns) {
  return fmt::format("{}.{:06}", ns / 1'000'000, ns % 1'000'000);
}

class FirefoxProfileWriter {
 public:
  FirefoxProfileWriter(const ShownRecording& shown, ByteSink& sink)
      : shown_(shown), recording_(shown.recording), json_(sink), tables_(recording_, shown.stacks) {}

  bool write() {
    json_.begin_object();
    meta();
    libs();
    shared();
    threads();
    json_.end_object();
    return json_.finish();
  }

 private:
  void milliseconds_field(std::string_view name, std::uint64_t ns) {
    json_.key(name);
    json_.literal(milliseconds(ns));
  }

  void column(std::string_view name, std::size_t length, const auto& write_value) {
    json_.key(name);
    json_.begin_array();
    for (std::size_t i = 0; i < length; ++i) write_value(i);
    json_.end_array();
  }
  void null_column(std::string_view name, std::size_t length) {
    column(name, length, [this](std::size_t) { json_.literal("null"); });
  }
  // Writes null if the value is `unknown`.
  template <class Value>
  void optional_column(std::string_view name, std::size_t length, Value value_of,
                       decltype(value_of(0)) unknown) {
    column(name, length, [&](std::size_t i) {
      if (value_of(i) == unknown) {
        json_.literal("null");
      } else {
        json_.value(value_of(i));
      }
    });
  }
  template <class Value>
  void same_column(std::string_view name, std::size_t length, Value value) {
    column(name, length, [&](std::size_t) { json_.value(value); });
  }

  void meta() {
    constexpr std::uint64_t kUnknownPeriodNs = 1'000'000;  // the format requires one
    const std::uint64_t period = recording_.period_ns;
    json_.key("meta");
    json_.begin_object();
    json_.field("version", kGeckoVersion);
    json_.field("preprocessedProfileVersion", kFirefoxProfileVersion);
    milliseconds_field("interval", period == 0 ? kUnknownPeriodNs : period);
    json_.field("startTime", recording_.unix_time_ms);
    json_.field("profilingStartTime", 0);
    milliseconds_field("profilingEndTime", recording_.duration_ns);
    json_.field("processType", 0);
    json_.field("product", process_name());
    json_.field("importedFrom", "mixwalk " + recording_.tool_version);
    json_.field("arguments", recording_.process.command_line);
    json_.field("platform", "Windows");
    json_.field("oscpu", "Windows x86_64");
    json_.field("stackwalk", 1);
    json_.field("debug", false);
    json_.field("symbolicated", true);  // every name that is known is already there
    json_.field("usesOnlyOneStackType", true);
    json_.field("sourceCodeIsNotOnSearchfox", true);
    json_.field("keepProfileThreadOrder", true);
    column("categories", kFirefoxCategories.size(), [this](std::size_t i) {
      json_.begin_object();
      json_.field("name", kFirefoxCategories[i].name);
      json_.field("color", kFirefoxCategories[i].color);
      same_column("subcategories", 1, "Other");
      json_.end_object();
    });
    same_column("markerSchema", 0, 0);
    // Sections of text that the Profiler shows with its facts about the profile.
    if (!shown_.rate.empty()) {
      column("extra", 1, [&](std::size_t) {
        json_.begin_object();
        json_.field("label", "Sampling");
        column("entries", 1, [&](std::size_t) {
          json_.begin_object();
          json_.field("label", "Rate reached");
          json_.field("format", "string");
          json_.field("value", shown_.rate);
          json_.end_object();
        });
        json_.end_object();
      });
    }
    json_.end_object();
  }

  std::string process_name() const { return module_name({.path = recording_.process.path}); }

  void libs() {
    column("libs", recording_.modules.size(), [this](std::size_t i) {
      const Module& module = recording_.modules[i];
      const std::string name = module_name(module);
      json_.begin_object();
      json_.field("arch", "x86_64");
      json_.field("name", name);
      json_.field("path", module.path);
      const std::string pdb = pdb_path(module);
      json_.field("debugName", pdb.empty() ? name : pdb_name(module));
      json_.field("debugPath", pdb.empty() ? module.path : pdb);
      json_.field("breakpadId", debug_id(module));
      json_.field("codeId", code_id(module));
      json_.end_object();
    });
  }

  // Threads share all tables except their samples.
  void shared() {
    json_.key("shared");
    json_.begin_object();
    stack_table();
    frame_table();
    function_table();
    resource_table();
    native_symbols();
    json_.key("sources");
    json_.begin_object();
    const auto& sources = tables_.sources();
    json_.field("length", sources.size());
    null_column("uuid", sources.size());
    column("filename", sources.size(), [&](std::size_t i) { json_.value(sources[i]); });
    json_.end_object();
    const auto& strings = tables_.strings().strings();
    column("stringArray", strings.size(), [&](std::size_t i) { json_.value(strings[i]); });
    json_.end_object();
  }

  void stack_table() {
    const auto& nodes = tables_.nodes();
    json_.key("stackTable");
    json_.begin_object();
    json_.field("length", nodes.size());
    column("frame", nodes.size(), [&](std::size_t i) { json_.value(nodes[i].frame); });
    column("prefix", nodes.size(), [&](std::size_t i) {
      if (nodes[i].parent == Recording::kNone) {
        json_.literal("null");
      } else {
        json_.value(nodes[i].parent);
      }
    });
    json_.end_object();
  }

  void frame_table() {
    const auto& frames = tables_.frames();
    json_.key("frameTable");
    json_.begin_object();
    json_.field("length", frames.size());
    column("address", frames.size(), [&](std::size_t i) { json_.value(frames[i].address); });
    column("inlineDepth", frames.size(),
           [&](std::size_t i) { json_.value(frames[i].inline_depth); });
    column("category", frames.size(),
           [&](std::size_t i) { json_.value(static_cast<unsigned>(frames[i].category)); });
    same_column("subcategory", frames.size(), 0);
    column("func", frames.size(), [&](std::size_t i) { json_.value(frames[i].function); });
    column("nativeSymbol", frames.size(), [&](std::size_t i) {
      if (frames[i].native_symbol) {
        json_.value(*frames[i].native_symbol);
      } else {
        json_.literal("null");
      }
    });
    same_column("innerWindowID", frames.size(), 0);
    optional_column("line", frames.size(), [&](std::size_t i) { return frames[i].line; }, 0u);
    null_column("column", frames.size());
    json_.end_object();
  }

  void function_table() {
    const auto& functions = tables_.functions();
    json_.key("funcTable");
    json_.begin_object();
    json_.field("length", functions.size());
    column("name", functions.size(), [&](std::size_t i) { json_.value(functions[i].name); });
    same_column("isJS", functions.size(), false);
    same_column("relevantForJS", functions.size(), false);
    column("resource", functions.size(),
           [&](std::size_t i) { json_.value(functions[i].resource); });
    optional_column("source", functions.size(), [&](std::size_t i) { return functions[i].source; }, -1);
    null_column("lineNumber", functions.size());
    null_column("columnNumber", functions.size());
    json_.end_object();
  }

  void resource_table() {
    const auto& resources = tables_.resources();
    json_.key("resourceTable");
    json_.begin_object();
    json_.field("length", resources.size());
    column("lib", resources.size(), [&](std::size_t i) { json_.value(resources[i]); });
    column("name", resources.size(), [&](std::size_t i) {
      const Module& module = recording_.modules[static_cast<std::size_t>(resources[i])];
      json_.value(tables_.strings().index(module_name(module)));
    });
    null_column("host", resources.size());
    same_column("type", resources.size(), kLibraryResource);
    json_.end_object();
  }

  void native_symbols() {
    const auto& symbols = tables_.symbols();
    json_.key("nativeSymbols");
    json_.begin_object();
    json_.field("length", symbols.size());
    column("libIndex", symbols.size(), [&](std::size_t i) { json_.value(symbols[i].module); });
    column("address", symbols.size(), [&](std::size_t i) { json_.value(symbols[i].rva); });
    column("name", symbols.size(), [&](std::size_t i) { json_.value(symbols[i].name); });
    null_column("functionSize", symbols.size());
    json_.end_object();
  }

  void threads() {
    const auto by_thread = samples_by_thread(recording_);
    // The Profiler fails if there is no thread.
    if (by_thread.empty()) {
      column("threads", 1, [&](std::size_t) { thread(std::string(kNoSamples), 0, {}); });
      return;
    }
    column("threads", by_thread.size(), [&](std::size_t i) {
      thread(shown_.threads[i].label, recording_.threads[i].os_id, by_thread[i]);
    });
  }

  void thread(const std::string& name, std::uint32_t id,
              const std::vector<std::uint32_t>& samples) {
    json_.begin_object();
    json_.field("processType", "default");
    json_.field("processName", process_name());
    json_.field("processStartupTime", 0);
    json_.key("processShutdownTime");
    json_.literal("null");
    milliseconds_field("registerTime",
                       samples.empty() ? 0 : recording_.samples[samples.front()].time_ns);
    json_.key("unregisterTime");
    json_.literal("null");
    same_column("pausedRanges", 0, 0);
    json_.field("name", name);
    json_.field("isMainThread", false);  // Windows has no main thread
    json_.field("pid", std::to_string(recording_.process.id));
    json_.field("tid", id);
    sample_table(samples);
    json_.key("markers");
    json_.begin_object();
    json_.field("length", 0);
    for (const char* name : {"data", "name", "startTime", "endTime", "phase", "category"}) {
      same_column(name, 0, 0);
    }
    json_.end_object();
    json_.end_object();
  }

  void sample_table(const std::vector<std::uint32_t>& samples) {
    json_.key("samples");
    json_.begin_object();
    json_.field("length", samples.size());
    column("stack", samples.size(),
           [&](std::size_t i) { json_.value(tables_.leaves()[samples[i]]); });
    column("time", samples.size(), [&](std::size_t i) {
      json_.literal(milliseconds(recording_.samples[samples[i]].time_ns));
    });
    column("weight", samples.size(), [&](std::size_t i) {
      const std::uint64_t value = recording_.samples[samples[i]].value;
      if (shown_.timed) {
        json_.literal(milliseconds(value));
      } else {
        json_.value(value);
      }
    });
    json_.field("weightType", shown_.timed ? "tracing-ms" : "samples");
    json_.end_object();
  }

  const ShownRecording& shown_;
  const Recording& recording_;
  JsonWriter json_;
  FirefoxTables tables_;
};

}  // namespace

bool write_firefox_profile(const ShownRecording& shown, ByteSink& sink) {
  return FirefoxProfileWriter(shown, sink).write();
}

}  // namespace mixwalk
