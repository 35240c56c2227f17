#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "walker/base/exit_code.h"
#include "walker/cli/thread_selection.h"
#include "walker/export/exporter.h"
#include "walker/cli/formats.h"
#include "walker/otlp/collector_url.h"
#include "walker/otlp/otel_variables.h"
#include "walker/otlp/requests.h"
#include "walker/suspended/deadline.h"
#include "walker/suspended/probe.h"

namespace mixwalk {

// The command line as values. Pure: parsing neither prints nor looks at anything but its arguments.

enum class Format { text, json, html };
enum class Colour { automatic, always, never };

struct PsCommand {
  Format format = Format::text;
};

// What is dumped: exactly one of these.
struct ById {
  std::uint32_t id = 0;
};
struct ByName {
  std::string name;
};
struct ByStart {
  std::vector<std::string> arguments;  // the program first
  std::uint32_t after_ms = 2000;
  bool allocations = false;  // they will be recorded: the runtime must know as it starts
};

using TargetChoice = std::variant<ById, ByName, ByStart>;

// How threads are walked.
struct Sampling {
  Engine engine = Engine::automatic;
  std::uint32_t deadline_ms = kDefaultDeadlineMs;
  ProbePolicy probe = ProbePolicy::risk;
  // The thread on which the probe is tried, by its id or by the beginning of its name; 0 and empty means chosen.
  std::uint32_t canary_id = 0;
  std::string canary;
  ThreadSelection threads;  // empty means all
  bool at_once = false;     // of a dump: all threads stand together
};

// What dump and record do before they ask for anything.
struct Visit {
  TargetChoice target;
  Sampling sampling;
  std::uint32_t timeout_ms = 30'000;
  std::uint32_t wait_ms = 0;  // for as long another profiler may still be in the process
  std::optional<std::string> symbol_path;  // SymbolPath's text; none means that of _NT_SYMBOL_PATH
};

// Where profiles go beside, or instead of, a file.
struct OtlpTarget {
  CollectorUrl url;
  std::optional<std::string> spool;  // a folder; none means the user's
  RequestContent content;
  std::vector<NameValue> headers;
};

// Where a dump goes, and as what.
struct DumpOutput {
  std::optional<std::string> output;  // none means standard output
  const RecordingFormat* format = nullptr;  // one of recording_formats()
  FrameFilter filter;
  Colour colour = Colour::automatic;
  bool calls = false;  // of text: the call instruction of each native frame
};

// From where dump looks at a process.
enum class DumpWay {
  automatic,  // inside; from outside where that is refused, or is not answered within kAnswerMs
  inside,
  outside,
};
// How long a process may take to admit mixwalk.dll, before dump looks from outside.
inline constexpr std::uint32_t kAnswerMs = 2000;

struct DumpCommand : DumpOutput {
  Visit visit;
  DumpWay way = DumpWay::automatic;
  std::string dac;  // the runtime's debugging library; empty if it is looked for
  bool locks = true;  // are looked for
  std::uint32_t repeat = 1;  // dumps; more: a series, in a .mixwalk file
  std::uint32_t every_ms = 10'000;  // from the beginning of one dump of a series to that of the next
  bool verbose = false;
};

// The stacks of a process in a dump file.
struct DumpFileCommand : DumpOutput {
  std::string file;
  std::string dac;  // as DumpCommand::dac
  ThreadSelection threads;  // empty means all
  std::optional<std::string> symbol_path;  // SymbolPath's text; none means that of _NT_SYMBOL_PATH
  bool verbose = false;
};

// A dump file of a process, with all of its memory.
struct MinidumpCommand {
  TargetChoice target;  // ById or ByName
  std::string output;
  bool verbose = false;
};

struct RecordCommand {
  Visit visit;
  std::optional<std::string> output;  // none means default_output()
  const RecordingFormat* format = nullptr;  // one of recording_formats(); null means no file, but otlp
  std::optional<OtlpTarget> otlp;
  FrameFilter filter;
  SampleEvent event = SampleEvent::wall;  // any but dump
  std::uint64_t period_ns = 10'000'000;
  std::string type;                        // of events: of this type or module; empty means of all
  std::uint64_t every = 1;                 // allocation: one of so many
  std::uint32_t budget = 5'00;             // wall, cpu: RecordRequest::budget
  std::uint32_t duration_ms = 0;           // 0 means until Ctrl-C, or the end of the process
  bool verbose = false;
};

struct ConvertCommand {
  std::string input;
  std::string output;  // "-": standard output
  const RecordingFormat* format = nullptr;  // one of recording_formats(); null means no file, but otlp
  std::optional<OtlpTarget> otlp;
  FrameFilter filter;
};

struct SymboliseCommand {
  std::string input;
  std::string output;                      // a file
  std::optional<std::string> symbol_path;  // as Visit::symbol_path
};

// compare: what is stuck in a process, by several dumps; report: what one dump shows.
struct HangCommand {
  std::vector<std::string> files;
  bool single = false;  // report
  bool across = false;  // the dumps are of several processes of one service
  std::optional<std::string> output;  // none means standard output
  Format format = Format::text;
  std::optional<std::string> symbol_path;  // as Visit::symbol_path; of minidumps
  std::string dac;                         // as DumpCommand::dac
  Colour colour = Colour::automatic;
  bool all = false;
  bool quiet = false;  // print nothing
  bool verbose = false;
};

// What works here, and with one process.
struct DoctorCommand {
  std::optional<TargetChoice> target;  // ById or ByName; none if only this machine is looked at
  bool json = false;
  bool trial = true;  // the process is dumped for two seconds
  std::optional<std::string> symbol_path;  // as Visit::symbol_path
};

using Command =
    std::variant<PsCommand, DumpCommand, DumpFileCommand, MinidumpCommand, RecordCommand, ConvertCommand,
                 SymboliseCommand, HangCommand, DoctorCommand>;

struct ParseResult {
  std::optional<Command> command;  // none if print what is to be printed and leave with the code
  ExitCode exit_code = ExitCode::ok;
  std::string to_stdout;
  std::string to_stderr;  // one line
};

// `arguments`: UTF-8, without the program's own name. `variables`: otel_variables().
ParseResult parse_command_line(const std::vector<std::string>& arguments,
                               const OtelVariables& variables = {});

}  // namespace mixwalk
