#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "symbols/server/symbol_limits.h"
#include "symbols/symbol_path.h"
#include "walker/base/exit_code.h"
#include "walker/cli/options/formats.h"
#include "walker/cli/options/thread_selection.h"
#include "walker/model/runtime_source.h"
#include "walker/otlp/collector_url.h"
#include "walker/otlp/otel_variables.h"
#include "walker/otlp/requests.h"
#include "walker/suspended/deadline.h"
#include "walker/suspended/probe.h"

namespace mixwalk {

// The command line as values. Pure: parsing prints nothing and reads only its arguments.

enum class Colour { automatic, always, never };

struct PsCommand {
  Format format = Format::text;  // text or json
};

// The process that is dumped: exactly one of these.
struct ById {
  std::uint32_t id = 0;
};
struct ByName {
  std::string name;
};
struct ByStart {
  std::vector<std::string> arguments;  // the program first
  std::uint32_t after_ms = 2000;
  bool allocations = false;  // whether they will be recorded; the runtime must know this when it starts
};

using TargetChoice = std::variant<ById, ByName, ByStart>;

// Where symbol files are looked for.
struct SymbolChoice {
  std::optional<std::string> path;  // SymbolPath's text; if it has no value, _NT_SYMBOL_PATH
  SymbolAsking asking = SymbolAsking::by_path;
  SymbolLimits limits;
};

// How threads are walked.
struct Sampling {
  Engine engine = Engine::automatic;
  std::uint32_t deadline_ms = kDefaultDeadlineMs;
  ProbePolicy probe = ProbePolicy::risk;
  // The thread on which the probe is tried, by its id or by the beginning of its name. If they are 0 and empty, a
  // thread is chosen.
  std::uint32_t canary_id = 0;
  std::string canary;
  ThreadSelection threads;  // empty for all
  bool at_once = false;     // of a dump: all threads are frozen together
};

// The steps of dump and record before they ask for stacks.
struct Visit {
  TargetChoice target;
  Sampling sampling;
  std::uint32_t timeout_ms = 30'000;
  std::uint32_t wait_ms = 0;  // how long to wait for another profiler to leave the process
  SymbolChoice symbols;
  bool no_host = false;  // the output does not have the name of this machine
};

// The collector to which profiles are sent, besides a file or instead of it.
struct OtlpTarget {
  CollectorUrl url;
  std::optional<std::string> spool;  // a folder; if it has no value, the user's
  RequestContent content;
  std::vector<NameValue> headers;
};

// The file and the format of a dump.
struct DumpOutput {
  std::optional<std::string> output;  // no value for standard output
  const RecordingFormat* format = nullptr;  // one of recording_formats()
  FrameFilter filter;
  Colour colour = Colour::automatic;
  bool calls = false;  // for text: shows the call instruction of each native frame
};

// The side from which dump reads a process.
enum class CaptureChoice {
  automatic,  // inside; outside if that is refused, or not answered within kAnswerMs
  inside,
  outside,
};
// How long a process may take to admit mixwalk.dll before dump reads it from outside.
inline constexpr std::uint32_t kAnswerMs = 2000;

struct DumpCommand : DumpOutput {
  Visit visit;
  CaptureChoice capture = CaptureChoice::automatic;
  std::string dac;  // the runtime's debugging library; empty if it is to be searched
  RuntimeSource runtime_data = RuntimeSource::automatic;
  bool locks = true;  // whether they are looked for
  bool async = false;  // whether all tasks of the heap are looked for
  std::uint32_t repeat = 1;  // how many dumps; more than one are a series, in a .mixwalk file
  std::uint32_t every_ms = 10'000;  // from the beginning of one dump of a series to that of the next
  bool verbose = false;
};

// The stacks of a process in a dump file.
struct DumpFileCommand : DumpOutput {
  std::string file;
  std::string dac;  // as DumpCommand::dac
  RuntimeSource runtime_data = RuntimeSource::automatic;
  ThreadSelection threads;  // empty for all
  SymbolChoice symbols;
  bool async = false;  // as DumpCommand::async
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
  std::optional<std::string> output;  // no value for default_output()
  const RecordingFormat* format = nullptr;  // one of recording_formats(); null for no file, but otlp
  std::optional<OtlpTarget> otlp;
  FrameFilter filter;
  SampleEvent event = SampleEvent::wall;  // any but dump
  std::uint64_t period_ns = 10'000'000;
  std::string type;                        // for events: of this type or module; empty for all
  std::uint64_t every = 1;                 // allocation: one of so many
  std::uint32_t budget = 5'00;             // wall, cpu: RecordRequest::budget
  std::uint32_t duration_ms = 0;           // if 0, until Ctrl-C or the end of the process
  bool verbose = false;
};

struct ConvertCommand {
  std::string input;
  std::string output;  // "-" for standard output
  const RecordingFormat* format = nullptr;  // one of recording_formats(); null for no file, but otlp
  std::optional<OtlpTarget> otlp;
  FrameFilter filter;
  // The part of the recording: from the first time on, and before the second. Both count from its
  // beginning.
  std::optional<std::uint32_t> from_ms, to_ms;
};

struct SymboliseCommand {
  std::string input;
  std::string output;  // a file
  SymbolChoice symbols;
};

// compare shows what is stuck in a process, by several dumps; report shows what one dump contains.
struct HangCommand {
  std::vector<std::string> files;
  bool single = false;  // report
  bool across = false;  // the dumps are of several processes of one service
  std::optional<std::string> output;  // no value for standard output
  Format format = Format::text;       // text, json or html
  SymbolChoice symbols;  // for minidumps
  std::string dac;       // as DumpCommand::dac
  RuntimeSource runtime_data = RuntimeSource::automatic;
  Colour colour = Colour::automatic;
  bool all = false;
  bool quiet = false;  // print nothing
  bool verbose = false;
};

// report of a process: it is dumped, once or several times, and the dumps are explained.
struct ReportProcessCommand {
  HangCommand report;  // without files
  DumpCommand dump;    // without an output
  bool verbose = false;
};

// doctor checks what works on this machine, and with one process.
struct DoctorCommand {
  std::optional<TargetChoice> target;  // ById or ByName; no value if only this machine is checked
  Format format = Format::text;        // text or json
  bool trial = true;  // the process is dumped for two seconds
  SymbolChoice symbols;
};

using Command =
    std::variant<PsCommand, DumpCommand, DumpFileCommand, MinidumpCommand, RecordCommand, ConvertCommand,
                 SymboliseCommand, HangCommand, ReportProcessCommand, DoctorCommand>;

struct ParseResult {
  std::optional<Command> command;  // no value if the texts are to be printed and the code returned
  ExitCode exit_code = ExitCode::ok;
  std::string to_stdout;
  std::string to_stderr;  // one line
};

// What this build of mixwalk can do on its system. The help lists only that. All else is parsed nevertheless, so that
// the answer is a sentence about the system.
struct Abilities {
  bool processes = true;  // whether it can look at processes
};

// `arguments`: UTF-8, without the program's own name. `variables`: otel_variables().
ParseResult parse_command_line(const std::vector<std::string>& arguments, const OtelVariables& variables = {},
                               Abilities abilities = {});

}  // namespace mixwalk
