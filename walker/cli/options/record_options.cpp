#include "walker/cli/options/record_options.h"

#include <map>

#include "walker/cli/options/duration.h"
#include "walker/export/dump_format.h"
#include "walker/session/protocol.h"

namespace mixwalk {
namespace {

constexpr char kRecordHelp[] =
    "Samples the complete call stacks of a .NET process repeatedly, and writes them to a .mixwalk file\n"
    "or to a file of another tool, by its extension. Ctrl-C ends the recording and keeps all samples.\n"
    "\n"
    "Examples:\n"
    "  mixwalk record --process-id 4711 --duration 30s\n"
    "  mixwalk record --name orders -d 10s -o orders.speedscope.json\n"
    "  mixwalk record --name orders --otlp http://localhost:4318\n"
    "  mixwalk record --mode cpu -o orders.pb.gz -- orders.exe --port 8080\n"
    "  mixwalk record --name orders --on exception=System.IO.IOException";

const std::map<std::string, SampleEvent> kModes = {{"wall", SampleEvent::wall},
                                                   {"cpu", SampleEvent::cpu}};

const std::map<std::string, SampleEvent> kEvents = {{"allocation", SampleEvent::allocation},
                                                    {"class-load", SampleEvent::class_load},
                                                    {"exception", SampleEvent::exception},
                                                    {"module-load", SampleEvent::module_load}};

// Checks the name after `event`= in --on. Returns an error, or nothing if the name is valid.
std::optional<ParseResult> check_name(const std::string& event, const RecordCommand& command) {
  const bool of_module = command.event == SampleEvent::module_load;
  if (command.type.empty()) {
    return usage("--on " + event + "= needs a " + (of_module ? "module's" : "type's") + " name",
                 "record");
  }
  if (of_module && command.type.find_first_of("\\/") != std::string::npos) {
    return usage("--on module-load= takes a file name, without its folder", "record");
  }
  return std::nullopt;
}

// Sets what triggers a sample: time, or the event of --on. Returns an error, or nothing if the options are valid.
std::optional<ParseResult> finish_event(const RecordArguments& arguments, RecordCommand& command) {
  constexpr std::uint32_t kDefaultEvery = 1000;
  if (!arguments.on) {
    if (command.filter.all) return usage("--all needs --on exception", "record");
    if (arguments.every) return usage("--every needs --on allocation", "record");
    command.event = arguments.mode.value_or(SampleEvent::wall);
    return std::nullopt;
  }
  if (arguments.rate || arguments.interval || arguments.mode) {
    return usage("--on cannot be used with --rate, --interval or --mode", "record");
  }
  const std::size_t equals = arguments.on->find('=');
  const std::string event = arguments.on->substr(0, equals);
  const auto known = kEvents.find(event);
  if (known == kEvents.end()) {
    return usage("--on: \"" + event +
                     "\" is none of allocation, class-load, exception, module-load",
                 "record");
  }
  command.event = known->second;
  const bool allocations = command.event == SampleEvent::allocation;
  if (equals != std::string::npos) {
    command.type = arguments.on->substr(equals + 1);
    if (auto wrong = check_name(event, command)) return wrong;
  }
  if (arguments.every && !allocations) {
    return usage("--every needs --on allocation", "record");
  }
  if (command.filter.all && command.event != SampleEvent::exception) {
    return usage("--all needs --on exception", "record");
  }
  if (!allocations) return std::nullopt;
  auto* start = std::get_if<ByStart>(&command.visit.target);
  if (start == nullptr) {
    return usage("--on allocation needs -- PROGRAM: a runtime reports allocations only if that was "
                 "requested when it started",
                 "record");
  }
  start->allocations = true;
  command.every = arguments.every.value_or(kDefaultEvery);
  return std::nullopt;
}

// Parses "3%", "0.5%", "3" to hundredths of a percent. Returns nothing for any other text.
std::optional<std::uint32_t> parse_share(std::string text) {
  if (text.ends_with('%')) text.pop_back();
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string hundredths = text.substr(point);
  if (!hundredths.empty()) hundredths.erase(0, 1);
  if (text.empty() || point == 0 || point > 3 || hundredths.size() > 2) return std::nullopt;
  if (point != text.size() && hundredths.empty()) return std::nullopt;
  std::uint32_t share = 0;
  for (const char digit : text.substr(0, point) + hundredths.append(2 - hundredths.size(), '0')) {
    if (digit < '0' || digit > '9') return std::nullopt;
    share = share * 10 + static_cast<std::uint32_t>(digit - '0');
  }
  return share <= kMaxBudget ? std::optional(share) : std::nullopt;
}

// Sets how often a sample is taken. Returns an error, or nothing if the options are valid.
std::optional<ParseResult> finish_period(const RecordArguments& arguments, RecordCommand& command) {
  if (arguments.rate && arguments.interval) {
    return usage("give --rate or --interval, not both", "record");
  }
  constexpr std::uint32_t kMaxRate = 10'000;
  constexpr std::uint32_t kMaxIntervalMs = 60'000;
  if (arguments.rate) {
    if (*arguments.rate > kMaxRate) return usage("--rate must be from 1 to 10000", "record");
    command.period_ns = 1'000'000'000 / *arguments.rate;
  }
  if (arguments.interval) {
    const std::uint32_t interval_ms = *parse_duration(*arguments.interval);
    if (interval_ms == 0 || interval_ms > kMaxIntervalMs) {
      return usage("--interval must be from 1ms to 60s", "record");
    }
    command.period_ns = std::uint64_t{interval_ms} * 1'000'000;
  }
  if (arguments.budget) {
    if (arguments.on) return usage("--on cannot be used with --budget", "record");
    const auto budget = parse_share(*arguments.budget);
    if (!budget) return usage("--budget must be from 0% to 100%, with two decimals at most", "record");
    command.budget = *budget;
  }
  return std::nullopt;
}

// Sets the destination of the recording. Returns an error, or nothing if the options are valid.
std::optional<ParseResult> finish_output(const RecordArguments& arguments,
                                         const OtelVariables& variables, RecordCommand& command) {
  if (auto wrong = finish_otlp(arguments.otlp, variables, "record", command.otlp)) return wrong;
  command.output = arguments.output;
  if (command.output && command.output->empty()) {
    return usage("--output needs a file's name", "record");
  }
  if (command.output == "-") {
    return usage("record writes to a file only: mixwalk convert can write the file to standard output", "record");
  }
  if (command.otlp && !arguments.output && !arguments.format) return std::nullopt;  // no file
  if (arguments.format) {
    command.format = format_by_name(*arguments.format);
    if (command.format == nullptr) {
      return unknown_format(*arguments.format, FormatsOf::recordings, "record");
    }
  } else {
    command.format = command.output ? format_by_path(*command.output) : &format_of(Format::mixwalk);
    if (command.format == nullptr) {
      return usage("mixwalk knows no format for the extension of --output: give one with --format", "record");
    }
  }
  if (auto wrong = refuse_filter(*command.format, command.filter, "record")) return wrong;
  if (command.format->refusal == &dump_refusal) {
    return usage(std::string(command.format->name) + " shows one moment, not a recording", "record");
  }
  return std::nullopt;
}

}  // namespace

void add_record(CLI::App& app, RecordArguments& arguments) {
  CLI::App* record = app.add_subcommand("record", kRecordHelp);
  RecordCommand& command = arguments.command;
  add_visit(*record, arguments.visit, command.visit, "record");
  record
      ->add_option("-d,--duration", arguments.duration,
                   "How long to record: 30, 30s or 00:00:30 (default: until Ctrl-C or until the\n"
                   "process ends)")
      ->check(duration_validator())
      ->option_text("DURATION");
  add_number(*record, "-r,--rate", arguments.rate, "Samples a second of each thread (default 100)")
      ->option_text("HZ");
  record
      ->add_option("-i,--interval", arguments.interval,
                   "The time between two samples of a thread, with a unit, in place of --rate")
      ->check(duration_with_unit_validator())
      ->option_text("DURATION");
  record
      ->add_option("--budget", arguments.budget,
                   "The largest share of the process's time that recording may take (default 5%;\n"
                   "0: no limit). mixwalk takes fewer samples if it would need more")
      ->option_text("PERCENT");
  record
      ->add_option("-o,--output", arguments.output, "The file to write (default: PROGRAM-DATE-TIME.mixwalk)")
      ->option_text("FILE");
  add_format(*record, arguments.format, FormatsOf::recordings, "by the file's extension");
  add_otlp(*record, arguments.otlp);
  add_choice(*record, "--mode", kModes, arguments.mode,
             "wall (every thread, the default) or cpu (threads that used the CPU since their\n"
             "last sample; mixwalk does not stop the others)")
      ->option_text("MODE");
  CLI::Option* const on =
      record
          ->add_option("--on", arguments.on,
                       "Record the stacks of an event in place of samples over time: of every\n"
                       "exception[=TYPE] where it is thrown, of every class-load[=TYPE], of every\n"
                       "module-load[=NAME] (an assembly or a native DLL, by its file name), or of every\n"
                       "Nth allocation[=TYPE] (only in a program that was started with --)")
          ->option_text("EVENT");
  set_words(*on, words_in(kEvents));
  add_number(*record, "--every", arguments.every,
             "Record every Nth allocation (default 1000); only with --on allocation")
      ->option_text("N");
  add_number(*record, "--depth", command.filter.depth, "Keep the first N frames of each stack")
      ->option_text("N");
  record->add_flag("--managed-only", command.filter.managed_only, "Keep managed frames only");
  add_all(*record, command.filter, FormatsOf::recordings);
  record->add_flag("-v,--verbose", command.verbose, "Print on standard error what mixwalk is doing");
}

ParseResult finish_record(RecordArguments& arguments, const OtelVariables& variables) {
  RecordCommand& command = arguments.command;
  if (auto wrong = finish_visit(arguments.visit, "record", command.visit)) {
    return std::move(*wrong);
  }
  // A started program is recorded from its beginning.
  if (auto* start = std::get_if<ByStart>(&command.visit.target)) start->after_ms = 0;
  if (arguments.duration) {
    command.duration_ms = *parse_duration(*arguments.duration);
    if (command.duration_ms == 0) return usage("--duration must be more than 0", "record");
  }
  if (auto wrong = finish_event(arguments, command)) return std::move(*wrong);
  if (auto wrong = finish_period(arguments, command)) return std::move(*wrong);
  if (auto wrong = finish_output(arguments, variables, command)) return std::move(*wrong);
  return {.command = std::move(command)};
}

}  // namespace mixwalk
