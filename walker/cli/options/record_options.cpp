#include <map>
#include <memory>

#include "walker/cli/options/output_options.h"
#include "walker/cli/options/visit_options.h"
#include "walker/session/protocol.h"

namespace mixwalk {
namespace {

constexpr char kRecordHelp[] =
    "Samples the complete call stacks of a .NET process repeatedly, and writes them to a .mixwalk file or to a file of "
    "another tool, by its extension. Ctrl-C ends the recording and keeps all samples.\n"
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

struct RecordArguments {
  VisitArguments visit;
  std::optional<std::uint32_t> duration_ms, interval_ms, rate, every;
  std::optional<std::string> format, on, budget;
  std::optional<SampleEvent> mode;
  OtlpArguments otlp;
  RecordCommand command;
};

// Sets what triggers a sample: time, or the event of --on.
void finish_event(const RecordArguments& arguments, RecordCommand& command) {
  constexpr std::uint32_t kDefaultEvery = 1000;
  if (!arguments.on) {
    if (arguments.every) refuse("--every needs --on allocation");
    command.event = arguments.mode.value_or(SampleEvent::wall);
    return;
  }
  if (arguments.rate || arguments.interval_ms || arguments.mode) {
    refuse("--on cannot be used with --rate, --interval or --mode");
  }
  const std::size_t equals = arguments.on->find('=');
  const std::string event = arguments.on->substr(0, equals);
  const auto known = kEvents.find(event);
  if (known == kEvents.end()) {
    refuse_text("--on", event, "is none of " + CLI::detail::join(words_in(kEvents), ", "));
  }
  command.event = known->second;
  const bool allocations = command.event == SampleEvent::allocation;
  if (equals != std::string::npos) {
    const bool of_module = command.event == SampleEvent::module_load;
    command.type = arguments.on->substr(equals + 1);
    if (command.type.empty()) refuse("--on " + event + "= needs a " + (of_module ? "module's" : "type's") + " name");
    if (of_module && command.type.find_first_of("\\/") != std::string::npos) {
      refuse("--on module-load= takes a file name, without its folder");
    }
  }
  if (arguments.every && !allocations) refuse("--every needs --on allocation");
  if (!allocations) return;
  auto* start = std::get_if<ByStart>(&command.visit.target);
  if (start == nullptr) {
    refuse("--on allocation needs -- PROGRAM: a runtime reports allocations only if that was "
           "requested when it started");
  }
  start->allocations = true;
  command.every = arguments.every.value_or(kDefaultEvery);
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

// Sets how often a sample is taken.
void finish_period(const RecordArguments& arguments, RecordCommand& command) {
  constexpr std::uint32_t kMaxRate = 10'000;
  constexpr std::uint32_t kMaxIntervalMs = 60'000;
  if (arguments.rate && arguments.interval_ms) refuse("give --rate or --interval, not both");
  if (arguments.rate) {
    if (*arguments.rate > kMaxRate) refuse("--rate must be from 1 to 10000");
    command.period_ns = 1'000'000'000 / *arguments.rate;
  }
  if (arguments.interval_ms) {
    if (*arguments.interval_ms == 0 || *arguments.interval_ms > kMaxIntervalMs) {
      refuse("--interval must be from 1ms to 60s");
    }
    command.period_ns = std::uint64_t{*arguments.interval_ms} * 1'000'000;
  }
  if (arguments.budget) {
    if (arguments.on) refuse("--on cannot be used with --budget");
    const auto budget = parse_share(*arguments.budget);
    if (!budget) refuse("--budget must be from 0% to 100%, with two decimals at most");
    command.budget = *budget;
  }
}

// Sets the destination of the recording.
void finish_output(const CLI::App& app, const RecordArguments& arguments, const OtelVariables& variables,
                   RecordCommand& command) {
  command.otlp = finish_otlp(app, arguments.otlp, variables);
  if (command.output && command.output->empty()) refuse("--output needs a file's name");
  if (command.output == "-") {
    refuse("record writes to a file only: mixwalk convert can write the file to standard output");
  }
  const bool told = command.output || arguments.format;
  const auto refuse_all = [&] {
    if (!command.filter.all || command.event == SampleEvent::exception) return;
    refuse("--all needs --on exception, or a page (-o NAME.html)");
  };
  if (command.otlp && !told) return refuse_all();  // no file
  command.format = told ? chosen_format(app, arguments.format, FormatsOf::recordings, command.output.value_or(""))
                        : &format_of(Format::mixwalk);
  if (command.format == nullptr)
    refuse("record needs --format, or an --output with an extension, such as NAME.mixwalk");
  if (command.format->id != Format::html) refuse_all();
  check_frames(*command.format, command.filter);
  check_all(app, command.format, command.otlp.has_value());
  if (command.format->write == nullptr) {
    refuse(std::string(command.format->name) + " shows one moment, not a recording: mixwalk dump writes it");
  }
}

}  // namespace

Finish add_record(CLI::App& app) {
  const auto arguments = std::make_shared<RecordArguments>();
  RecordCommand& command = arguments->command;
  app.description(kRecordHelp);
  add_target(app, arguments->visit, "record");
  app.option_defaults()->group(kOutputGroup);
  app.add_option("-o,--output", command.output, "The file to write (default: PROGRAM-DATE-TIME.mixwalk)")
      ->option_text("FILE");
  add_format(app, arguments->format, FormatsOf::recordings, "by the file's extension");
  app.option_defaults()->group("What to record");
  add_duration(app, "-d,--duration", arguments->duration_ms,
               "How long to record: 30s, 1m30s or 00:01:30 (default: until Ctrl-C or until the process ends)");
  add_number(app, "-r,--rate", arguments->rate, "Samples a second of each thread (default 100)")->option_text("HZ");
  add_duration(app, "-i,--interval", arguments->interval_ms,
               "The time between two samples of a thread, in place of --rate");
  add_choice(app, "--mode", kModes, arguments->mode,
             "wall (every thread, the default) or cpu (threads that used the CPU since their last sample; mixwalk does "
             "not stop the others)")
      ->option_text("MODE");
  CLI::Option* const on =
      app.add_option(
             "--on", arguments->on,
             "Record the stacks of an event in place of samples over time: of every exception[=TYPE] where it is "
             "thrown, of every class-load[=TYPE], of every module-load[=NAME] (an assembly or a native DLL, by its "
             "file name), or of every Nth allocation[=TYPE] (only in a program that was started with --)")
          ->option_text("EVENT");
  set_words(*on, words_in(kEvents));
  add_number(app, "--every", arguments->every,
             "Record every Nth allocation (default 1000); only with --on allocation")
      ->option_text("N");
  add_frames(app, command.filter, "Keep");
  add_all(app, command.filter, FormatsOf::recordings);
  add_symbol_path(app, command.visit.symbols, std::string("No symbol server is asked while mixwalk records (mixwalk "
                                                          "symbolise asks). ") + kPdbsOfImages);
  add_otlp(app, arguments->otlp);
  add_walk(app, arguments->visit, command.visit);
  app.add_option("--budget", arguments->budget,
                 "The largest share of the process's time that recording may take (default 5%; 0: no limit). mixwalk "
                 "takes fewer samples if it would need more")
      ->option_text("PERCENT");
  add_verbose(app, command.verbose);
  return [arguments, &command, &app](Given given) -> ParseResult {
    take_program(arguments->visit, given);
    finish_visit(app, arguments->visit, command.visit);
    // A started program is recorded from its beginning.
    if (auto* start = std::get_if<ByStart>(&command.visit.target)) start->after_ms = 0;
    if (arguments->duration_ms == 0) refuse("--duration must be more than 0");
    command.duration_ms = arguments->duration_ms.value_or(0);
    finish_event(*arguments, command);
    finish_period(*arguments, command);
    finish_output(app, *arguments, given.variables, command);
    return {.command = std::move(command)};
  };
}

}  // namespace mixwalk
