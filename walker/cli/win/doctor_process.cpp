#include "walker/cli/win/doctor_checks.h"

#include <windows.h>

#include <algorithm>
#include <iterator>

#include "symbols/symbol_path.h"
#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/debug_directory.h"
#include "walker/base/count_words.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/win/visit.h"
#include "walker/clr/win/target_clr.h"
#include "walker/model/duration_histogram.h"
#include "walker/naming/symbolise.h"
#include "walker/session/diagnostics_ipc.h"
#include "walker/session/win/diagnostics_port.h"
#include "walker/session/win/loaded_runtime.h"
#include "walker/session/win/mitigation_policies.h"
#include "walker/session/win/patched_calls_of.h"
#include "walker/session/win/processes.h"
#include "walker/shown/words.h"
#include "walker/target/win/live_target.h"

namespace mixwalk {
namespace {

using State = DoctorLine::State;

constexpr DWORD kPortMs = 2000;           // until the diagnostics port answers
constexpr std::uint32_t kVisitMs = 5000;  // until the target lets mixwalk.dll in, and for each dump
constexpr ULONGLONG kTrialMs = 2000;
constexpr DWORD kBetweenDumpsMs = 50;
constexpr std::size_t kShownPdbs = 3;

DoctorLine bad(const std::string& check, const Failure& failure, const std::string& advice = "") {
  return {.state = State::bad, .check = check, .found = failure.message, .advice = advice, .code = failure.code};
}

DoctorLine diagnostics_port(const AttachTarget& target) {
  const ULONGLONG begin = GetTickCount64();
  const auto reply = ask_diagnostics_port(target.id, target.process.get(), encode_process_info(), Deadline(kPortMs));
  if (!reply) return bad("diagnostics port", reply.failure(), "dump --outside only reads the process");
  const auto info = reply->ok ? decode_process_info(reply->payload) : std::nullopt;
  return {.check = "diagnostics port",
          .found = "answers within " + std::to_string(GetTickCount64() - begin + 1) + " ms" +
                   (info ? ": .NET " + info->runtime_version + ", " + info->architecture : "")};
}

DoctorLine system_calls(std::uint32_t process_id, bool has_runtime) {
  const auto patched = patched_calls_of(process_id);
  if (!patched) return {.state = State::note, .check = "system calls", .found = patched.failure().message};
  if (patched->empty()) return {.check = "system calls", .found = "none that freezing a thread needs is patched"};
  return {.state = State::note,
          .check = "system calls",
          .found = patched_calls_text(*patched),
          .advice = has_runtime ? "dump reads this process from outside; record may stop a thread for 200 ms if that "
                                  "software waits for the thread"
                                : "dump --outside needs none of these calls"};
}

// Checks that only read. Profilers are recognised by their names here; only the trial is certain.
void read_target(const LiveTarget& target, bool native_aot, const SymbolChoice& symbols,
                 std::vector<DoctorLine>& lines) {
  if (target.runtime().name.empty()) {
    lines.push_back({.state = State::note,
                     .check = "runtime",
                     .found = native_aot ? "NativeAOT: all frames are native"
                                         : "none is loaded: there are native frames only"});
  } else {
    lines.push_back({.check = "runtime", .found = runtime_text(target.runtime())});
  }
  std::string profilers;
  for (const Module& module : target.modules()) {
    const std::string name = ascii_lower(file_name(module.path));
    if (name.find("profiler") == std::string::npos && name != "mixwalk.dll") continue;
    profilers += (profilers.empty() ? "" : ", ") + module.path;
  }
  if (profilers.empty()) {
    lines.push_back({.check = "other profilers", .found = "no loaded DLL has \"profiler\" in its name"});
  } else {
    lines.push_back({.state = State::note,
                     .check = "other profilers",
                     .found = "loaded: " + profilers + "; the runtime takes one profiler at a time",
                     .advice = "if attaching fails, end the other profiler, or use dump --outside"});
  }
  const auto dac = dac_of(target, {.symbol_path = symbol_path_of(symbols)});
  if (!dac) return;
  if (*dac) {
    lines.push_back({.check = "debugging library", .found = **dac});
  } else {
    lines.push_back({.state = State::note,
                     .check = "debugging library",
                     .found = dac->failure().message,
                     .advice = "dumps from outside lack managed frames until --dac or --symbol-path names it"});
  }
}

DoctorLine pdbs_of(Snapshot& snapshot, SymbolChoice choice) {
  choice.asking = SymbolAsking::offline;
  LocalSymbols symbols(choice);
  identify(snapshot, symbols.identities(), symbols.lines());
  symbolise(snapshot, symbols.symboliser());
  add_lines(snapshot, symbols.lines());
  const auto missing = symbols.missing();
  if (missing.empty()) return {.check = "PDBs", .found = "all that the stacks need were found"};
  std::string names;
  for (std::size_t i = 0; i < missing.size() && i < kShownPdbs; ++i) names += (i == 0 ? "" : ", ") + missing[i].name;
  if (missing.size() > kShownPdbs) names += ", …";
  return {.state = State::note,
          .check = "PDBs",
          .found = std::to_string(missing.size()) +
                   (missing.size() == 1 ? " that the stacks need was" : " that the stacks need were") + " not found (" +
                   names + ")",
          .advice = "--symbol-path names their folders; dump -v lists them in the form that symchk /im reads"};
}

// Dumps the process again and again for two seconds, or until this process had to resume a thread. Returns the last
// dump. If the visit or a dump fails, returns that failure at once.
Outcome<Snapshot> dump_for_two_seconds(std::uint32_t process_id, DoctorTrial& trial) {
  auto session = visit({.target = ById{process_id}, .timeout_ms = kVisitMs});
  if (!session) return session.failure();
  const DumpRequest request = sampling_request({});
  watch_freezes_of(*session, request.deadline_ms);
  DurationHistogram frozen;
  const ULONGLONG end = GetTickCount64() + kTrialMs;
  while (true) {
    auto snapshot = session->dump(request);
    if (!snapshot) return snapshot;
    ++trial.dumps;
    for (const Thread& thread : snapshot->threads) {
      if (!thread.skipped.empty()) continue;
      ++trial.stacks;
      if (thread.stack.whole()) ++trial.whole;
      frozen.add(thread.frozen_ns);
    }
    // Each further dump could stop a thread for as long.
    if (session->given_back() != 0 || GetTickCount64() >= end) {
      trial.resumed = session->given_back();
      session->leave();
      trial.frozen = frozen.percentiles();
      return snapshot;
    }
    session->sleep(kBetweenDumpsMs);
  }
}

std::string figures(const DoctorTrial& trial) {
  const auto us = [](std::uint64_t ns) { return std::to_string(ns / 1000); };
  return count_words(trial.dumps, "dump") +
         (trial.resumed == 0 ? " in " + std::to_string(kTrialMs / 1000) + " s; " : "; ") + std::to_string(trial.whole) +
         " of " + std::to_string(trial.stacks) + " stacks are whole; a thread stood for " + us(trial.frozen.p50_ns) +
         " us (median), " + us(trial.frozen.p99_ns) + " us (99 %), " + us(trial.frozen.max_ns) + " us (longest)";
}

}  // namespace

void look_at_process(std::uint32_t process_id, bool trial, const SymbolChoice& symbols, DoctorReport& report) {
  std::vector<DoctorLine>& lines = report.lines;
  const auto found = find_target(process_id);
  if (found) {
    lines.push_back({.check = "process", .found = describe_process(found->id, found->name) + " can be opened"});
    lines.push_back(diagnostics_port(*found));
    std::ranges::move(mitigation_lines(read_mitigation_policies(found->id)), std::back_inserter(lines));
  } else {
    lines.push_back(bad("process", found.failure()));
  }
  const auto target = LiveTarget::open(process_id);
  if (target) {
    lines.push_back(system_calls(process_id, !(*target)->runtime().name.empty()));
    read_target(**target, loaded_runtime(process_id) == LoadedRuntime::native_aot, symbols, lines);
  } else if (found) {
    lines.push_back(bad("reading", target.failure()));
  }
  if (!found || !trial) return;
  DoctorTrial figures_of;
  auto snapshot = dump_for_two_seconds(process_id, figures_of);
  if (!snapshot) {
    lines.push_back(bad("trial", snapshot.failure(), "dump --outside only reads the process"));
    return;
  }
  report.trial = figures_of;
  if (figures_of.resumed == 0) {
    lines.push_back({.check = "trial", .found = figures(figures_of)});
  } else {
    lines.push_back({.state = State::note,
                     .check = "trial",
                     .found = figures(figures_of) +
                              "; a thread stood still for at least 200 ms until mixwalk.exe resumed it",
                     .advice = "dump --outside, which needs no thread of the process"});
  }
  lines.push_back(pdbs_of(*snapshot, symbols));
}

}  // namespace mixwalk
