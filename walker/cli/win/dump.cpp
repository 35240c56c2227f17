#include <spdlog/spdlog.h>
#include <windows.h>

#include <chrono>

#include "symbols/symboliser.h"
#include "unmanaged/win/utf8.h"
#include "walker/cli/report.h"
#include "walker/cli/version.h"
#include "walker/cli/win/command.h"
#include "walker/cli/win/output_file.h"
#include "walker/cli/win/visit.h"
#include "walker/export/json.h"
#include "walker/export/text.h"
#include "walker/export/words.h"
#include "walker/model/counters.h"
#include "walker/model/recording_builder.h"
#include "walker/session/win/dump_session.h"
#include "walker/store/store_exporter.h"
#include "walker/symbolise.h"

namespace mixwalk {
namespace {

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
  auto output = OutputFile::open(command.output);
  if (!output) return report(output.failure());
  auto session = visit(command.target, command.timeout_ms);
  if (!session) return report(session.failure());
  auto snapshot = session->dump(sampling_request(command.sampling));
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
