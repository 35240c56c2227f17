#include <io.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "symbols/image_files.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/partial_file.h"
#include "walker/base/printable.h"
#include "walker/base/version.h"
#include "walker/check_calls.h"
#include "walker/cli/dump_file.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/report.h"
#include "walker/cli/win/command.h"
#include "walker/cli/win/console.h"
#include "walker/cli/win/dump_outside.h"
#include "walker/cli/win/log_missing.h"
#include "walker/cli/win/visit.h"
#include "walker/cli/write_dump.h"
#include "walker/export/words.h"
#include "walker/model/counters.h"
#include "walker/outside/win/target_clr.h"
#include "walker/session/win/environment.h"
#include "walker/session/win/target_session.h"
#include "walker/symbolise.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxShownName = 260;

bool stdout_is_console() { return _isatty(_fileno(stdout)) != 0 && obeys_escapes(stdout); }

void complete(Snapshot& snapshot) {
  using namespace std::chrono;
  snapshot.tool_version = kVersion;
  snapshot.unix_time_ms = static_cast<std::uint64_t>(
      duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count());
}

void log_threads(const Snapshot& snapshot) {
  for (const Thread& thread : snapshot.threads) {
    spdlog::info("thread {:#x}: {} frames, frozen {} us, after {} us{}{}", thread.os_id,
                 thread.stack.frames.size(), thread.frozen_ns / 1000, thread.stopping_ns / 1000,
                 thread.stack.whole() ? "" : fmt::format(", {}", key(thread.stack.completeness())),
                 thread.stack.refusal != 0
                     ? fmt::format(", DoStackSnapshot refused ({:#x})", thread.stack.refusal)
                     : "");
  }
}

void log_counters(const Counters& counters) {
  spdlog::info("{} samples, {} whole, {} with guessed frames, {} threads skipped; frozen p50 {} us, p99 {} us, "
               "max {} us",
               counters.samples, counters.whole, counters.guessed, counters.skipped, counters.frozen.p50_ns / 1000,
               counters.frozen.p99_ns / 1000, counters.frozen.max_ns / 1000);
  spdlog::info("until they stood: p50 {} us, p99 {} us, max {} us", counters.stopping.p50_ns / 1000,
               counters.stopping.p99_ns / 1000, counters.stopping.max_ns / 1000);
  if (counters.not_asked != 0) {
    spdlog::info("{} walked from the copy, where a lock of the runtime may be held",
                 counters.not_asked);
  }
  spdlog::info("{} walked from the copy instead; {} probes, {} failed; {} freezes ended by the "
               "supervisor; breaker: {} threads off{}",
               counters.fallbacks, counters.probes_run, counters.probes_failed,
               counters.interventions, counters.breaker.threads_off,
               counters.breaker.process_off ? ", process off" : "");
  for (const auto& [hresult, times] : counters.refusals) {
    spdlog::info("DoStackSnapshot refused {} times with {:#x}", times, hresult);
  }
  spdlog::info("runs: {} closed, {} at the root, {} open; {} copies cut", counters.runs_closed,
               counters.runs_root, counters.runs_open, counters.copies_cut);
  for (std::size_t i = 0; i < kOpenReasons; ++i) {
    if (counters.open_by_reason[i] == 0) continue;
    spdlog::info("open {} times: {}", counters.open_by_reason[i],
                 sentence(static_cast<OpenReason>(i)));
  }
}

void log_calls(const Counters& counters) {
  const auto of = [&](CallCheck call) { return counters.calls[static_cast<std::size_t>(call)]; };
  spdlog::info("calls of {} native frames: {:.1f} % lead to the frame above, {} may, {} lead elsewhere; "
               "{} frames are after no call", counters.calls_checked(), counters.calls_verified() * 100,
               of(CallCheck::possible), of(CallCheck::elsewhere), of(CallCheck::no_call));
}

// From inside.
Outcome<Snapshot> dump_inside(const DumpCommand& command, const Visit& how) {
  auto session = visit(how);
  if (!session) return session.failure();
  session->set_timeout(command.visit.timeout_ms);
  DumpRequest request = sampling_request(command.visit.sampling);
  // The request knows ids only: for names, all threads come, and those that were meant stay.
  if (!command.visit.sampling.threads.names.empty()) request.thread_ids.clear();
  auto snapshot = session->dump(request);
  if (!snapshot) return snapshot;
  // Before names are looked for and anything is written: a pager may keep the output waiting, and
  // the target has nothing to do with that.
  if (const std::string problem = session->leave(); !problem.empty()) spdlog::info(problem);
  return snapshot;
}

Outcome<Snapshot> take(const DumpCommand& command) {
  if (command.way == DumpWay::outside) return dump_outside(command);
  if (command.way == DumpWay::inside) return dump_inside(command, command.visit);
  Visit quick = command.visit;
  quick.timeout_ms = std::min(quick.timeout_ms, kAnswerMs);
  auto inside = dump_inside(command, quick);
  if (inside || !may_go_outside(inside.failure())) return inside;
  spdlog::info("{}; looking from outside", inside.failure().message);
  auto outside = dump_outside(command);
  // The first reason says more: what can be done about it is in the user's hands.
  if (!outside) return inside.failure();
  outside->way_reason = inside.failure().message;
  return outside;
}

std::string name_of(const Process& process) { return process.path.substr(process.path.find_last_of("\\/") + 1); }

}  // namespace

ExitCode run(const DumpCommand& command) {
  std::optional<PartialFile> file;
  if (command.output) {
    file.emplace(*command.output);
    if (!file->error().empty()) return report(unwritable(command, file->error()));
  }
  auto snapshot = take(command);
  if (!snapshot) return report(snapshot.failure());
  const ThreadSelection& threads = command.visit.sampling.threads;
  complete(*snapshot);
  log_threads(*snapshot);
  for (const Moment& moment : snapshot->moments) {
    spdlog::info("the threads of one moment stood for {} us", moment.stood_ns / 1000);
  }
  log_counters(count(*snapshot));

  UnmatchedThreads unmatched(threads);
  for (const Thread& thread : snapshot->threads) unmatched.met(thread.os_id, thread.name);
  std::erase_if(snapshot->threads, [&](const Thread& thread) {
    return !threads.contains(thread.os_id, thread.name);
  });
  const Failure missing{ExitCode::no_thread,
                        "process " + std::to_string(snapshot->process.id) + " (" +
                            printable(name_of(snapshot->process), kMaxShownName) + ") has no " + unmatched.text()};
  if (!unmatched.empty() && snapshot->threads.empty()) return report(missing);

  spdlog::info("symbolising");
  LocalSymbols symbols(command.visit.symbol_path);
  identify(*snapshot, symbols.identities(), symbols.lines());
  symbolise(*snapshot, symbols.symboliser());
  add_lines(*snapshot, symbols.lines());
  log_missing(symbols.missing());
  CallChecker calls(symbols.symboliser(), loaded_images(*snapshot));
  check_calls(*snapshot, calls);
  log_calls(count(*snapshot));
  if (const auto failure = write_dump(*snapshot, command, wants_colour(command, stdout_is_console()),
                                      file ? &*file : nullptr, calls)) {
    return report(*failure);
  }
  return unmatched.empty() ? ExitCode::ok : report(missing);
}

ExitCode run(const DumpFileCommand& command) {
  DiskImageFiles disk;
  LocalImageFiles local(disk);
  const std::string variable = to_utf8(environment_variable(L"_NT_SYMBOL_PATH").value_or(L""));
  const std::string path = command.symbol_path.value_or(variable);
  return run(command, {.local = local,
                       .default_symbol_path = variable,
                       .colour = wants_colour(command, stdout_is_console()),
                       .open_clr = [&](const Target& target, std::string& obstacle) {
                         TargetClr clr = open_clr(target, {.dump_path = command.file, .symbol_path = path},
                                                  {.dac = command.dac, .symbol_path = parse_symbol_path(path)});
                         obstacle = clr.obstacle;
                         return std::unique_ptr<ClrQuestions>(std::move(clr.questions));
                       },
                       .log = [](const std::string& text) { spdlog::info(text); }});
}

}  // namespace mixwalk
