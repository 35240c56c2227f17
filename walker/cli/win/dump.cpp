#include <spdlog/spdlog.h>
#include <windows.h>

#include <chrono>

#include "symbols/symboliser.h"
#include "unmanaged/win/module_path.h"
#include "unmanaged/win/utf8.h"
#include "walker/cli/report.h"
#include "walker/cli/version.h"
#include "walker/cli/win/command.h"
#include "walker/cli/win/output_file.h"
#include "walker/export/json.h"
#include "walker/export/text.h"
#include "walker/export/words.h"
#include "walker/model/counters.h"
#include "walker/model/recording_builder.h"
#include "walker/session/win/dump_session.h"
#include "walker/session/win/processes.h"
#include "walker/store/store_exporter.h"
#include "walker/symbolise.h"

namespace mixwalk {
namespace {

// mixwalk.dll lies beside mixwalk.exe.
Outcome<std::wstring> profiler_path() {
  std::wstring path = module_folder(nullptr) + L"mixwalk.dll";
  if (GetFileAttributesW(path.c_str()) == INVALID_FILE_ATTRIBUTES) {
    return Failure{ExitCode::internal, "mixwalk.dll is not beside mixwalk.exe"};
  }
  return path;
}

Outcome<DumpSession> open_session(const DumpCommand& command, const std::wstring& dll) {
  if (const auto* start = std::get_if<ByStart>(&command.target)) {
    spdlog::info("starting {}", start->arguments.front());
    auto session = DumpSession::start(start->arguments, dll, command.timeout_ms);
    if (session && !session->sleep(start->after_ms)) {
      return Failure{ExitCode::target_exited,
                     "process " + std::to_string(session->target_id()) + " (" +
                         session->target_name() + ") ended before the dump"};
    }
    return session;
  }
  const auto* id = std::get_if<ById>(&command.target);
  Outcome<Target> target =
      id != nullptr ? find_target(id->id) : find_target(std::get<ByName>(command.target).name);
  if (!target) return target.failure();
  spdlog::info("attaching to process {} ({})", target->id, target->name);
  return DumpSession::attach(std::move(*target), dll, command.timeout_ms);
}

bool wants_colour(const DumpCommand& command, const OutputFile& output) {
  switch (command.colour) {
    case Colour::always: return true;
    case Colour::never: return false;
    case Colour::automatic: break;
  }
  if (!output.is_terminal()) return false;
  // A console shows ANSI colours when asked to; an older one has none.
  const HANDLE console = GetStdHandle(STD_OUTPUT_HANDLE);
  DWORD mode = 0;
  return GetConsoleMode(console, &mode) &&
         SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

bool write(const Snapshot& snapshot, const DumpCommand& command, const OutputFile& output) {
  FileSink sink(output.file());
  switch (command.format) {
    case Format::json: return JsonExporter(command.filter).write(snapshot, sink);
    case Format::mixwalk: return StoreExporter().write(to_recording(snapshot), sink);
    case Format::text: break;
  }
  const TextExporter::Options options{wants_colour(command, output), command.filter};
  return TextExporter(options).write(snapshot, sink);
}

void complete(Snapshot& snapshot) {
  using namespace std::chrono;
  snapshot.tool_version = kVersion;
  snapshot.unix_time_ms = static_cast<std::uint64_t>(
      duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count());
}

void log_threads(const Snapshot& snapshot) {
  for (const Thread& thread : snapshot.threads) {
    spdlog::info("thread {:#x}: {} frames, frozen {} us{}{}", thread.os_id,
                 thread.stack.frames.size(), thread.frozen_ns / 1000,
                 thread.stack.whole() ? "" : ", not whole",
                 thread.stack.refusal != 0
                     ? fmt::format(", DoStackSnapshot refused ({:#x})", thread.stack.refusal)
                     : "");
  }
}

void log_counters(const Counters& counters) {
  spdlog::info("{} samples, {} whole, {} threads skipped; frozen p50 {} us, p99 {} us, max {} us",
               counters.samples, counters.whole, counters.skipped, counters.frozen_p50_ns / 1000,
               counters.frozen_p99_ns / 1000, counters.frozen_max_ns / 1000);
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

}  // namespace

ExitCode run(const DumpCommand& command) {
  const auto dll = profiler_path();
  if (!dll) return report(dll.failure());
  auto output = OutputFile::open(command.output);
  if (!output) return report(output.failure());
  auto session = open_session(command, *dll);
  if (!session) return report(session.failure());
  auto snapshot = session->dump({.engine = command.engine,
                                 .deadline_ms = command.deadline_ms,
                                 .probe = command.probe,
                                 .canary_prefix = command.canary,
                                 .thread_ids = command.threads});
  if (!snapshot) return report(snapshot.failure());
  complete(*snapshot);
  log_threads(*snapshot);
  log_counters(count(*snapshot));

  spdlog::info("symbolising");
  DiskImageFiles files;
  Symboliser symboliser(files);
  symbolise(*snapshot, symboliser);
  const bool written = write(*snapshot, command, *output) && output->commit();
  if (const std::string problem = session->leave(); !problem.empty()) spdlog::info(problem);
  if (!written) {
    return report({ExitCode::output,
                   "cannot write " + (command.output ? "\"" + *command.output + "\""
                                                     : std::string("to standard output"))});
  }
  return ExitCode::ok;
}

}  // namespace mixwalk
