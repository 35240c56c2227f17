#include "walker/cli/options/dump_arguments.h"

#include <algorithm>
#include <string>
#include <variant>

namespace mixwalk {
namespace {

// All dumps of a series are in memory at once, and compare reads no more than this.
constexpr std::uint32_t kMaxRepeat = 1000;

// Checks the options of a series, and completes the command.
void finish_series(const CLI::App& app, const DumpArguments& arguments, std::uint32_t least, DumpCommand& command) {
  if (!arguments.repeat) {
    if (app.count("--every") != 0) refuse("--every needs --repeat");
    if (arguments.one_by_one) refuse("--one-by-one needs --repeat");
    return;
  }
  if (*arguments.repeat < least || *arguments.repeat > kMaxRepeat) {
    refuse("--repeat must be a number from " + std::to_string(least) + " to " + std::to_string(kMaxRepeat));
  }
  command.repeat = *arguments.repeat;
  const bool one_dump = least == 1 && *arguments.repeat == 1;
  if (one_dump && (app.count("--every") != 0 || arguments.one_by_one)) {
    refuse("--every and --one-by-one need --repeat 2 or more");
  }
  if (command.every_ms == 0) refuse("--every must be more than 0");
  Sampling& sampling = command.visit.sampling;
  if (command.repeat > 1 && !arguments.one_by_one && sampling.engine != Engine::snapshot && !arguments.visit.canary) {
    sampling.at_once = true;
  }
}

}  // namespace

void refuse_given(const CLI::App& app, std::initializer_list<OptionNames> lists, const std::string& where) {
  for (const OptionNames& options : lists) {
    for (const char* option : options) {
      if (app.count(option) != 0) refuse(std::string(option) + " cannot be used " + where);
    }
  }
}

void add_series(CLI::App& app, DumpArguments& arguments, const std::string& repeat) {
  add_number(app, "--repeat", arguments.repeat,
             repeat + " All threads are stopped together for each dump, as with dump --at-once; not with --one-by-one, "
                      "--engine snapshot or --canary. Ctrl-C ends the series and keeps the dumps so far")
      ->option_text("N");
  add_duration(app, "--every", arguments.command.every_ms,
               "The time between the starts of two dumps of a series (default 10s)");
  app.add_flag("--one-by-one", arguments.one_by_one, "Stop the threads of each dump one after the other");
}

void add_capture(CLI::App& app, DumpCommand& command) {
  auto* outside = app.add_flag_callback("--outside", [&command] { command.capture = CaptureChoice::outside; },
                                        "Only read the process: load nothing into it, and send it no request");
  app.add_flag_callback(
         "--inside", [&command] { command.capture = CaptureChoice::inside; },
         "Fail if mixwalk.dll is refused or gets no answer; do not read the process from outside instead")
      ->excludes(outside);
}

void finish_process(const CLI::App& app, DumpArguments& arguments, std::uint32_t least) {
  DumpCommand& command = arguments.command;
  finish_series(app, arguments, least, command);
  Sampling& sampling = command.visit.sampling;
  if (sampling.at_once) {
    if (sampling.engine == Engine::snapshot) {
      refuse("--at-once cannot be used with --engine snapshot: mixwalk does not call the runtime "
             "while several threads are suspended");
    }
    if (arguments.visit.canary) refuse("--canary cannot be used with --at-once");
    sampling.engine = Engine::copy;
    if (app.count("--deadline") == 0) sampling.deadline_ms = kAtOnceDeadlineMs;
  }
  finish_visit(app, arguments.visit, command.visit);
  const bool starts = std::holds_alternative<ByStart>(command.visit.target);
  const bool told_dll = std::ranges::any_of(kDllOptions, [&](const char* option) { return app.count(option) != 0; });
  if (command.capture == CaptureChoice::outside) {
    if (starts) refuse("--outside needs --process-id or --name");
    refuse_given(app, {kDllOptions, sampling.at_once ? OptionNames() : kFreezeOptions}, "with --outside");
  } else if (starts || told_dll) {
    command.capture = CaptureChoice::inside;
  }
}

}  // namespace mixwalk
