#include "walker/cli/visit_options.h"

#include <map>

#include "walker/cli/duration.h"

namespace mixwalk {
namespace {

const std::map<std::string, Engine> kEngines = {
    {"auto", Engine::automatic}, {"snapshot", Engine::snapshot}, {"copy", Engine::copy}};
const std::map<std::string, ProbePolicy> kProbes = {{"always", ProbePolicy::always},
                                                    {"risk", ProbePolicy::risk},
                                                    {"never", ProbePolicy::never}};

// One thread, as `option` names it: by its id, or by the beginning of its name.
std::optional<ParseResult> add_thread(std::string thread, const std::string& option, const std::string& command,
                                      ThreadSelection& selection) {
  if (thread.empty()) return usage(option + " needs a name or an id", command);
  if (const auto id = parse_thread_id(thread)) {
    selection.ids.push_back(*id);
  } else if (is_written_as_id(thread)) {
    return usage(option + ": \"" + thread + "\" is no thread's id", command);
  } else {
    selection.names.push_back(std::move(thread));
  }
  return std::nullopt;
}

}  // namespace

void add_visit(CLI::App& app, VisitArguments& arguments, Visit& visit, const char* verb) {
  Sampling& sampling = visit.sampling;
  const std::string what = std::string("The process to ") + verb;
  add_number(app, "-p,--process-id", arguments.id, what)->option_text("PID");
  app.add_option("-n,--name", arguments.name, what + ", by its image's name")->option_text("NAME");
  // Only used to say where a program's name goes: the words after "--" never reach this option.
  app.add_option("program", arguments.program)->group("");
  add_choice(app, "--engine", kEngines, sampling.engine,
             "auto (the default), snapshot (DoStackSnapshot, its holes filled) or copy (no\n"
             "call into the runtime while a thread stands still); auto is copy where a thread\n"
             "may hold a lock of the runtime, else snapshot")
      ->option_text("ENGINE");
  app.add_option("--deadline", arguments.deadline,
                 "How long a thread may stand still at most, with its unit (default 50ms)")
      ->check(duration_with_unit_validator())
      ->option_text("DURATION");
  add_choice(app, "--probe", kProbes, arguments.probe,
             "With --engine snapshot: always, risk or never: when to try the runtime on\n"
             "another thread before a thread is walked (default risk: where it may hold a\n"
             "lock of the runtime)")
      ->option_text("WHEN");
  app.add_option("--canary", arguments.canary,
                 "The thread to try it on: that with this id (1364 or 0x554), or one whose name\n"
                 "begins so (default: a parked one)")
      ->option_text("NAME-or-TID");
  add_list(app, "--thread,--threads", arguments.threads,
           "Only the thread with this id (1364 or 0x554), or threads whose names begin so;\n"
           "may be given again")
      ->option_text("NAME-or-TID");
  app.add_option("--symbol-path", visit.symbol_path,
                 "Where PDBs are looked for beside the images: FOLDER;srv*FOLDER;… (default:\n"
                 "_NT_SYMBOL_PATH); nothing is asked of a network")
      ->option_text("PATH");
  app.add_option("--timeout", arguments.timeout, "How long to wait for the target (default 30s)")
      ->check(duration_validator())
      ->option_text("DURATION");
  app.add_option("--wait", arguments.wait,
                 "How long to wait where another mixwalk, or another profiler, is still in the\n"
                 "process (default: not at all)")
      ->check(duration_validator())
      ->option_text("DURATION");
}

std::optional<ParseResult> finish_threads(std::vector<std::string>& threads,
                                          const std::string& command, ThreadSelection& selection) {
  for (std::string& thread : threads) {
    if (auto wrong = add_thread(std::move(thread), "--thread", command, selection)) return wrong;
  }
  return std::nullopt;
}

std::optional<ParseResult> finish_visit(VisitArguments& arguments, const std::string& command,
                                        Visit& visit) {
  const int targets = arguments.id.has_value() + arguments.name.has_value() +
                      static_cast<int>(!arguments.program.empty());
  if (targets != 1) {
    return usage(command + " needs exactly one of --process-id, --name and -- PROGRAM", command);
  }
  Sampling& sampling = visit.sampling;
  visit.timeout_ms = *parse_duration(arguments.timeout);
  if (arguments.deadline) sampling.deadline_ms = *parse_duration(*arguments.deadline);
  if (sampling.deadline_ms == 0 || sampling.deadline_ms > kMaxDeadlineMs) {
    return usage("--deadline must be from 1ms to 60s", command);
  }
  if (arguments.probe) {
    if (sampling.engine != Engine::snapshot) {
      return usage("--probe goes with --engine snapshot", command);
    }
    sampling.probe = *arguments.probe;
  }
  if (visit.timeout_ms == 0) return usage("--timeout must be longer than nothing", command);
  visit.wait_ms = *parse_duration(arguments.wait);
  if (visit.wait_ms != 0 && !arguments.program.empty()) {
    return usage("--wait goes with --process-id and --name", command);
  }
  if (auto wrong = finish_threads(arguments.threads, command, sampling.threads)) return wrong;
  if (arguments.canary) {
    ThreadSelection canary;
    if (auto wrong = add_thread(*arguments.canary, "--canary", command, canary)) return wrong;
    if (!canary.ids.empty()) sampling.canary_id = canary.ids.front();
    if (!canary.names.empty()) sampling.canary = canary.names.front();
  }
  if (arguments.id) {
    visit.target = ById{*arguments.id};
  } else if (arguments.name) {
    if (arguments.name->empty()) return usage("--name must not be empty", command);
    visit.target = ByName{*arguments.name};
  } else {
    if (arguments.program.front().empty()) return usage("the program has no name", command);
    visit.target = ByStart{std::move(arguments.program)};
  }
  return std::nullopt;
}

}  // namespace mixwalk
