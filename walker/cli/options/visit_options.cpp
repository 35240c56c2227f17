#include "walker/cli/options/visit_options.h"

#include <map>

namespace mixwalk {
namespace {

const std::map<std::string, Engine> kEngines = {
    {"auto", Engine::automatic}, {"snapshot", Engine::snapshot}, {"copy", Engine::copy}};
const std::map<std::string, ProbePolicy> kProbes = {{"always", ProbePolicy::always},
                                                    {"risk", ProbePolicy::risk},
                                                    {"never", ProbePolicy::never}};

// Adds the thread that `option` names, by its id or by the beginning of its name.
void add_thread(std::string thread, const std::string& option, ThreadSelection& selection) {
  if (thread.empty()) refuse(option + " needs a name or an id");
  if (const auto id = parse_id(thread)) {
    selection.ids.push_back(*id);
  } else if (is_written_as_id(thread)) {
    refuse_text(option, thread, "is not the id of a thread");
  } else {
    selection.names.push_back(std::move(thread));
  }
}

}  // namespace

void add_target(CLI::App& app, VisitArguments& arguments, const std::string& verb) {
  app.option_defaults()->group(kTargetGroup);
  add_process(app, arguments.process, "The process to " + verb);
  // Only used for an error message about a misplaced program's name, because the words after "--" never reach this
  // option.
  app.add_option("program", arguments.program)->group("");
  add_list(
      app, "--thread,--threads", arguments.threads,
      "Only the thread with this id (1364 or 0x554), or only threads whose names begin with this text; may be given "
      "more than once" + std::string(verb == "dump" ? "; main: the main thread" : ""))
      ->option_text("NAME-or-TID");
}

void add_walk(CLI::App& app, VisitArguments& arguments, Visit& visit) {
  Sampling& sampling = visit.sampling;
  app.option_defaults()->group(kExpertGroup);
  add_duration(
      app, "--wait", visit.wait_ms,
      "How long to wait if another mixwalk, or another profiler, is still in the process (default: do not wait)");
  add_duration(app, "--timeout", visit.timeout_ms, "How long to wait for each answer of the target (default 30s)");
  add_duration(app, "--deadline", sampling.deadline_ms,
               "The longest time for which a thread may be suspended (default 50ms)");
  add_choice(
      app, "--engine", kEngines, sampling.engine,
      "auto (the default), snapshot (DoStackSnapshot, with its gaps filled) or copy (no call into the runtime while "
      "a thread is suspended). auto uses copy for a thread that may hold a lock of the runtime, and snapshot for "
      "all others")
      ->option_text("ENGINE");
  add_choice(
      app, "--probe", kProbes, sampling.probe,
      "always, risk or never: whether to test the runtime on another thread first. risk (the default): only if the "
      "thread may hold a lock of the runtime. Only with --engine snapshot")
      ->option_text("WHEN");
  app.add_option("--canary", arguments.canary,
                 "Prefer the thread with this id (1364 or 0x554), or whose name begins with this text, for --probe "
                 "(default: a managed thread that waits in a system call)")
      ->option_text("NAME-or-TID");
  app.add_flag("--no-host", visit.no_host, "Leave the name of this machine out of the output");
}

void take_program(VisitArguments& arguments, Given& given) {
  if (!arguments.program.empty()) {
    refuse(misplaced(arguments.program.front(), true));
  }
  arguments.program = std::move(given.program);
}

ThreadSelection threads_in(std::vector<std::string>& threads) {
  ThreadSelection selection;
  for (std::string& thread : threads) add_thread(std::move(thread), "--thread", selection);
  return selection;
}

void finish_visit(const CLI::App& app, VisitArguments& arguments, Visit& visit) {
  const ProcessArguments& process = arguments.process;
  if (process.id.has_value() + process.name.has_value() + static_cast<int>(!arguments.program.empty()) != 1) {
    refuse(app.get_name() + " needs exactly one of --process-id, --name" + (arguments.takes_file ? ", FILE.dmp" : "") +
           " and -- PROGRAM; mixwalk ps lists processes");
  }
  Sampling& sampling = visit.sampling;
  if (sampling.deadline_ms == 0 || sampling.deadline_ms > kMaxDeadlineMs) {
    refuse("--deadline must be from 1ms to 60s");
  }
  if (app.count("--probe") != 0 && sampling.engine != Engine::snapshot) refuse("--probe needs --engine snapshot");
  if (visit.timeout_ms == 0) refuse("--timeout must be more than 0");
  if (visit.wait_ms != 0 && !arguments.program.empty()) refuse("--wait needs --process-id or --name");
  sampling.threads = threads_in(arguments.threads);
  if (arguments.canary) {
    ThreadSelection canary;
    add_thread(*arguments.canary, "--canary", canary);
    if (!canary.ids.empty()) sampling.canary_id = canary.ids.front();
    if (!canary.names.empty()) sampling.canary = canary.names.front();
  }
  if (const auto target = process_in(process)) {
    visit.target = *target;
  } else {
    if (arguments.program.front().empty()) refuse("the program has no name");
    visit.target = ByStart{std::move(arguments.program)};
  }
}

}  // namespace mixwalk
