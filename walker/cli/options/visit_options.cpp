#include "walker/cli/options/visit_options.h"

#include <map>

#include "walker/cli/options/duration.h"

namespace mixwalk {
namespace {

const std::map<std::string, Engine> kEngines = {
    {"auto", Engine::automatic}, {"snapshot", Engine::snapshot}, {"copy", Engine::copy}};
const std::map<std::string, ProbePolicy> kProbes = {{"always", ProbePolicy::always},
                                                    {"risk", ProbePolicy::risk},
                                                    {"never", ProbePolicy::never}};

// Adds the thread that `option` names, by its id or by the beginning of its name.
std::optional<ParseResult> add_thread(std::string thread, const std::string& option, const std::string& command,
                                      ThreadSelection& selection) {
  if (thread.empty()) return usage(option + " needs a name or an id", command);
  if (const auto id = parse_thread_id(thread)) {
    selection.ids.push_back(*id);
  } else if (is_written_as_id(thread)) {
    return usage(option + ": \"" + thread + "\" is not the id of a thread", command);
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
  // Only used for an error message about a misplaced program's name, because the words after "--" never reach this
  // option.
  app.add_option("program", arguments.program)->group("");
  add_choice(app, "--engine", kEngines, sampling.engine,
             "auto (the default), snapshot (DoStackSnapshot, with its gaps filled) or copy (no\n"
             "call into the runtime while a thread is suspended). auto uses copy for a thread\n"
             "that may hold a lock of the runtime, and snapshot for all others")
      ->option_text("ENGINE");
  app.add_option("--deadline", arguments.deadline,
                 "The longest time for which a thread may be suspended, with a unit (default 50ms)")
      ->check(duration_with_unit_validator())
      ->option_text("DURATION");
  add_choice(app, "--probe", kProbes, arguments.probe,
             "always, risk or never: whether to test the runtime on another thread first. risk\n"
             "(the default): only if the thread may hold a lock of the runtime. Only with\n"
             "--engine snapshot")
      ->option_text("WHEN");
  app.add_option("--canary", arguments.canary,
                 "Prefer the thread with this id (1364 or 0x554), or whose name begins with this\n"
                 "text, for --probe (default: a managed thread that waits in a system call)")
      ->option_text("NAME-or-TID");
  add_list(app, "--thread,--threads", arguments.threads,
           "Only the thread with this id (1364 or 0x554), or only threads whose names begin\n"
           "with this text; may be given more than once")
      ->option_text("NAME-or-TID");
  app.add_option("--symbol-path", visit.symbol_path,
                 "Where to look for PDBs, in addition to the folders of the images:\n"
                 "FOLDER;srv*FOLDER;… (default: _NT_SYMBOL_PATH). mixwalk does not look on the network")
      ->option_text("PATH");
  app.add_option("--timeout", arguments.timeout, "How long to wait for each answer of the target (default 30s)")
      ->check(duration_validator())
      ->option_text("DURATION");
  app.add_option("--wait", arguments.wait,
                 "How long to wait if another mixwalk, or another profiler, is still in the process\n"
                 "(default: do not wait)")
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
      return usage("--probe needs --engine snapshot", command);
    }
    sampling.probe = *arguments.probe;
  }
  if (visit.timeout_ms == 0) return usage("--timeout must be more than 0", command);
  visit.wait_ms = *parse_duration(arguments.wait);
  if (visit.wait_ms != 0 && !arguments.program.empty()) {
    return usage("--wait needs --process-id or --name", command);
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
