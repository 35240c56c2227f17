#include "walker/cli/hang.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "walker/base/partial_file.h"
#include "walker/base/printable.h"
#include "walker/base/version.h"
#include "walker/cli/compare_recordings.h"
#include "walker/cli/file_kind.h"
#include "walker/cli/input_file.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_output.h"
#include "walker/export/dump_format.h"
#include "walker/export/findings_json.h"
#include "walker/export/findings_text.h"
#include "walker/export/json_reader.h"
#include "walker/hang/findings.h"
#include "walker/hang/standings.h"
#include "walker/model/series.h"
#include "walker/report/html.h"
#include "walker/store/layout.h"
#include "walker/store/recording_reader.h"

namespace mixwalk {
namespace {

// The limit for dumps, since all of them are in memory at once.
constexpr std::size_t kMaxDumps = 1000;

bool is_minidump(std::string_view bytes) { return bytes.starts_with("MDMP"); }
bool is_json(std::string_view bytes) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  const std::size_t at = bytes.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && bytes[at] == '{';
}

struct Dumps {
  std::vector<Snapshot> dumps;
  std::vector<std::string> files;  // for each dump
};

struct Inputs {
  Dumps dumps;
  std::vector<NamedRecording> recordings;  // recordings that are not dumps
  std::string note;                        // about files that were cut off; empty if none was
};

void add(Inputs& inputs, const std::string& file, Snapshot snapshot) {
  inputs.dumps.dumps.push_back(std::move(snapshot));
  inputs.dumps.files.push_back(file);
}

// Reads the bytes of a .mixwalk file. `over_time`: recordings are accepted too, besides dumps.
std::optional<Failure> add_stored(Inputs& inputs, const std::string& file, std::string_view bytes, bool over_time) {
  ReadRecording read = read_recording(bytes);
  if (!read.recording) return unreadable_file(file, read.error);
  const bool is_dump = read.recording->event == SampleEvent::dump;
  if (!is_dump && !over_time) return unreadable_file(file, kind_refusal("report", FileKind::recording));
  if (is_dump) {
    if (const std::string why = series_refusal(*read.recording); !why.empty()) return unreadable_file(file, why);
  }
  if (const std::string cut = sentence(read.cut); !cut.empty()) {
    const std::string about = input_words(file) + ": " + cut;
    print_failure({ExitCode::ok, about});
    inputs.note += (inputs.note.empty() ? "" : ". ") + about;
  }
  if (is_dump) {
    for (Snapshot& snapshot : to_series(*read.recording)) add(inputs, file, std::move(snapshot));
  } else {
    complete_standings(*read.recording);
    inputs.recordings.push_back({file, std::move(*read.recording)});
  }
  return std::nullopt;
}

// Reads a file. Its first bytes show which kind it is. `over_time`: as in add_stored.
std::optional<Failure> read_file(const std::string& file, const OpenDump& open_dump, bool over_time, Inputs& inputs) {
  const std::string_view command = over_time ? "compare" : "report";
  const auto bytes = file_bytes(file, [](std::string_view first) {
    return !is_minidump(first) && (first.starts_with(layout::kMagic) || is_json(first));
  });
  if (!bytes) return bytes.failure();
  if (is_minidump(*bytes) && file == kStandardInput) {
    return unreadable_file(file, "it is a minidump, which is read from a file here; mixwalk dump - shows its stacks");
  } else if (is_minidump(*bytes)) {
    auto snapshot = open_dump(file);
    if (!snapshot) return snapshot.failure();
    add(inputs, file, std::move(*snapshot));
  } else if (bytes->starts_with(layout::kMagic)) {
    if (auto failure = add_stored(inputs, file, *bytes, over_time)) return failure;
  } else if (is_json(*bytes)) {
    ReadJsonDump read = read_json_dump(*bytes);
    if (!read.snapshot) {
      const bool is_dump = file_kind(*bytes) == FileKind::json;
      return unreadable_file(file, is_dump ? read.error : other_file_refusal(command, *bytes));
    }
    add(inputs, file, std::move(*read.snapshot));
  } else {
    return unreadable_file(file, other_file_refusal(command, *bytes));
  }
  if (inputs.dumps.dumps.size() > kMaxDumps) return unreadable_file(file, "there are more than 1000 dumps");
  return std::nullopt;
}

// Reads dumps, or two recordings, but not both.
std::optional<Failure> read_files(const HangCommand& command, const OpenDump& open_dump, Inputs& inputs) {
  for (const std::string& file : command.files) {
    if (auto failure = read_file(file, open_dump, !command.single, inputs)) return failure;
    if (inputs.recordings.empty()) continue;
    const std::string recording = input_words(inputs.recordings.front().file);
    if (!inputs.dumps.files.empty()) {
      return Failure{ExitCode::input, recording + " is a recording, and " + input_words(inputs.dumps.files.front()) +
                                          " is a dump: compare takes dumps, or two recordings"};
    }
    if (inputs.recordings.size() > 2) {
      return Failure{ExitCode::input, "compare takes two recordings, and there are more: " + input_words(file)};
    }
  }
  if (inputs.recordings.size() == 1) {
    return Failure{ExitCode::input,
                   "compare needs two recordings, and there is one: " + input_words(inputs.recordings.front().file)};
  }
  return std::nullopt;
}

// The dumps with these numbers, in the order of the numbers.
Dumps picked(Dumps dumps, const std::vector<std::size_t>& numbers) {
  Dumps out;
  for (const std::size_t i : numbers) {
    out.dumps.push_back(std::move(dumps.dumps[i]));
    out.files.push_back(std::move(dumps.files[i]));
  }
  return out;
}

// The dumps in the order of time. Dumps of the same time are in the order in which they were given.
Dumps in_order(Dumps dumps) {
  std::vector<std::size_t> order(dumps.dumps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return dumps.dumps[i].unix_time_ms; });
  return picked(std::move(dumps), order);
}

// Whether the code addresses are the same. Names and inlined calls are not compared, because they depend on the
// symbols.
bool are_same_frames(const Stack& first, const Stack& second) {
  auto a = first.frames.begin(), b = second.frames.begin();
  while (true) {
    a = std::find_if(a, first.frames.end(), [](const Frame& frame) { return frame.inline_depth == 0; });
    b = std::find_if(b, second.frames.end(), [](const Frame& frame) { return frame.inline_depth == 0; });
    if (a == first.frames.end() || b == second.frames.end()) return a == first.frames.end() && b == second.frames.end();
    if (a->kind != b->kind || a->address != b->address) return false;
    ++a;
    ++b;
  }
}

// Whether both are the same dump, given twice. Two different dumps of a process are not of the same millisecond. But a
// minidump has its time in seconds only, and JSON may have no time, so for these everything must be the same, including
// the processor times.
bool is_same_dump(const Snapshot& first, const Snapshot& second) {
  if (first.unix_time_ms != second.unix_time_ms) return false;
  if (first.process.id != second.process.id || first.process.path != second.process.path) return false;
  if (!std::ranges::equal(first.threads, second.threads, {}, &Thread::os_id, &Thread::os_id)) return false;
  const bool exact =
      first.unix_time_ms != 0 && first.capture != CaptureMethod::file && second.capture != CaptureMethod::file;
  if (exact) return true;
  return first.locks == second.locks &&
         std::ranges::equal(first.threads, second.threads, [](const Thread& a, const Thread& b) {
           return a.cpu == b.cpu && are_same_frames(a.stack, b.stack);
         });
}

// Returns why a dump contains nothing to look at: "has no thread". Returns an empty text if it contains something.
std::string_view emptiness(const Snapshot& dump) {
  if (dump.threads.empty()) return "has no thread";
  const bool has_stack =
      std::ranges::any_of(dump.threads, [](const Thread& thread) { return !thread.stack.frames.empty(); });
  return has_stack || !dump.locks.empty() ? "" : "has no stack of any thread";
}

// Why one of the dumps says nothing beside those that are kept (their numbers): "has no thread". Returns an empty text
// if it says something.
using Why = std::function<std::string(const Dumps& dumps, std::size_t one, const std::vector<std::size_t>& kept)>;

// Leaves out dumps. Returns a sentence for each.
std::vector<std::string> drop(Dumps& dumps, const Why& why_dropped) {
  std::vector<std::string> sentences;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < dumps.dumps.size(); ++i) {
    const std::string why = why_dropped(dumps, i, kept);
    if (why.empty()) {
      kept.push_back(i);
    } else {
      sentences.push_back(input_words(dumps.files[i]) + " " + why);
    }
  }
  dumps = picked(std::move(dumps), kept);
  return sentences;
}

std::string why_empty(const Dumps& dumps, std::size_t one, const std::vector<std::size_t>&) {
  return std::string(emptiness(dumps.dumps[one]));
}

// A dump that was given twice is left out, because in two copies of one dump no thread moves, so every thread would
// look stuck.
std::string why_same(const Dumps& dumps, std::size_t one, const std::vector<std::size_t>& kept) {
  const auto same = std::ranges::find_if(
      kept, [&](std::size_t before) { return is_same_dump(dumps.dumps[before], dumps.dumps[one]); });
  return same == kept.end() ? "" : "is the same dump as " + input_words(dumps.files[*same]);
}

bool write(const HangCommand& command, bool colour, const Dumps& dumps, const Findings& findings,
           const std::string& note, ByteSink& sink) {
  const Fleet fleet = command.across ? find_fleet(dumps.dumps, findings) : Fleet();
  const Fleet* const across = command.across ? &fleet : nullptr;
  if (command.format == Format::html) {
    return write_html_dumps(dumps.dumps, {.filter = {.all = command.all}, .note = note}, sink, &findings, across);
  }
  if (command.format == Format::json) return write_findings_json(dumps.dumps, findings, kVersion, sink, across);
  return write_findings_text(dumps.dumps, findings, {.colour = colour, .all = command.all, .fleet = across}, sink);
}

// Whether the output is one of the inputs. A wrong command line must not overwrite an input, which may be the only copy
// of a dump.
bool is_one_of(const std::string& output, const std::vector<std::string>& files) {
  return std::ranges::any_of(files, [&](const std::string& file) { return would_overwrite(output, file); });
}

ExitCode code_of(const Findings& findings) {
  switch (severity(findings)) {
    case Severity::crash: return ExitCode::crash;
    case Severity::deadlock: return ExitCode::deadlock;
    case Severity::stuck: return ExitCode::stuck;
    case Severity::note: break;
  }
  return ExitCode::ok;
}

ExitCode explain_dumps(const HangCommand& command, bool colour, const Dumps& dumps, const std::string& note,
                       Output& output) {
  const Findings findings = find_hangs(dumps.dumps, dumps.files);
  if (command.quiet) return code_of(findings);
  const auto failure =
      output.write([&](ByteSink& sink) { return write(command, colour, dumps, findings, note, sink); });
  return failure ? print_failure(*failure) : code_of(findings);
}

}  // namespace

ExitCode explain(const HangCommand& command, bool colour, std::vector<Snapshot> dumps, const std::string& origin,
                 Output& output) {
  std::vector<std::string> files(dumps.size(), origin);
  Dumps all{.dumps = std::move(dumps), .files = std::move(files)};
  for (const std::string& sentence : drop(all, &why_empty)) {
    if (all.dumps.empty()) return print_failure({ExitCode::input, sentence + ": there is nothing to explain"});
    print_failure({ExitCode::ok, sentence + ", and is left out"});
  }
  return explain_dumps(command, colour, all, {}, output);
}

ExitCode run(const HangCommand& command, bool colour, const OpenDump& open_dump) {
  if (command.output && is_one_of(*command.output, command.files)) {
    return print_failure(unwritable_output(command.output, "that would overwrite a dump that is read"));
  }
  say_missing_folders(command.symbols);
  Output output(command.output);
  if (const auto failure = output.failure()) return print_failure(*failure);
  Inputs inputs;
  if (const auto failure = read_files(command, open_dump, inputs)) return print_failure(*failure);
  if (!inputs.recordings.empty()) {
    return compare_recordings(command, colour, std::move(inputs.recordings[0]), std::move(inputs.recordings[1]),
                              inputs.note, output);
  }
  Dumps dumps = in_order(std::move(inputs.dumps));
  if (!command.single && dumps.dumps.size() < 2) {
    return print_failure({ExitCode::input, "compare needs two dumps or more; mixwalk report explains one"});
  }
  std::vector<std::string> left_out = drop(dumps, &why_empty);
  if (dumps.dumps.empty()) {
    return print_failure({ExitCode::input, left_out.front() + ": there is nothing to explain"});
  }
  std::ranges::move(drop(dumps, &why_same), std::back_inserter(left_out));
  if (!command.single && dumps.dumps.size() < 2) {
    return print_failure({ExitCode::input, "compare needs two dumps or more, and " + left_out.front()});
  }
  for (const std::string& sentence : left_out) print_failure({ExitCode::ok, sentence + ", and is left out"});
  return explain_dumps(command, colour, dumps, inputs.note, output);
}

ExitCode run(const HangCommand& command, const DumpFileServices& host) {
  DumpFileSymbols symbols(command.symbols);
  const ExitCode code = run(command, wants_colour(command, host.show_colours()), [&](const std::string& file) {
    DumpFileCommand one;
    one.file = file;
    one.dac = command.dac;
    one.runtime_data = command.runtime_data;
    one.verbose = command.verbose;
    one.symbols = command.symbols;
    return read_dump_file(one, host, symbols);
  });
  if (!command.quiet) {
    say_symbol_problems(symbols.problems);
    symbols.loader.say(symbols.missing);
  }
  return code;
}

}  // namespace mixwalk
