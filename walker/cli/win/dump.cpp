#include <io.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "symbols/image_files.h"
#include "unmanaged/image/debug_directory.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/base/partial_file.h"
#include "walker/base/printable.h"
#include "walker/base/version.h"
#include "walker/base/wall_clock.h"
#include "walker/cli/dump_file.h"
#include "walker/cli/hang.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_dump.h"
#include "walker/cli/output/write_output.h"
#include "walker/cli/symbol_path_variable.h"
#include "walker/cli/win/command.h"
#include "walker/cli/win/console.h"
#include "walker/cli/win/ctrl_c.h"
#include "walker/cli/win/dump_outside.h"
#include "walker/cli/win/dump_source.h"
#include "walker/cli/win/log_missing.h"
#include "walker/clr/win/target_clr.h"
#include "walker/model/counters.h"
#include "walker/naming/check_calls.h"
#include "walker/naming/symbolise.h"
#include "walker/session/visit_failure.h"
#include "walker/session/win/token.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxShownName = 260;

bool stdout_is_console() { return _isatty(_fileno(stdout)) != 0 && supports_escapes(stdout); }

void complete(Snapshot& snapshot) {
  snapshot.tool_version = kVersion;
  if (snapshot.unix_time_ms == 0) snapshot.unix_time_ms = unix_time_ms_now();
}

void log_threads(const Snapshot& snapshot) {
  for (const Thread& thread : snapshot.threads) {
    spdlog::info("thread {:#x}: {} frames, frozen {} us, after {} us{}{}", thread.os_id,
                 thread.stack.frames.size(), thread.frozen_ns / 1000, thread.stopping_ns / 1000,
                 thread.stack.whole() ? "" : fmt::format(", {}", enum_name(thread.stack.completeness())),
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

// The services of this machine for reading a dump file. `local` must outlive the result.
DumpFileServices dump_file_host(const std::string& file, ImageFiles& local,
                                const std::optional<std::string>& symbol_path, const std::string& dac) {
  const std::string path = symbol_path_text(symbol_path);
  return {.local = local,
          .symbol_path = path,
          .open_clr = [file, path, dac](const Target& target, std::string& obstacle) {
            TargetClr clr = open_clr(target, {.dump_path = file, .symbol_path = path},
                                     {.dac = dac, .symbol_path = parse_symbol_path(path)});
            obstacle = clr.obstacle;
            return std::unique_ptr<ClrQuestions>(std::move(clr.questions));
          },
          .log = [](const std::string& text) { spdlog::info(text); }};
}

// The dumps of one command line, from the first dump to the file.
class DumpRun {
 public:
  // `file`: null for standard output.
  DumpRun(const DumpCommand& command, PartialFile* file)
      : command_(command),
        file_(file),
        source_(command),
        symbols_(command.visit.symbol_path),
        unmatched_(command.visit.sampling.threads) {}

  ExitCode run() { return command_.repeat == 1 ? run_one() : run_series(); }

 private:
  ExitCode run_one();
  ExitCode run_series();
  Outcome<Snapshot> next(bool last);
  void add_names(Snapshot& snapshot, CallChecker& calls);
  std::optional<Failure> wait(const UniqueHandle& process, ULONGLONG until);
  Failure missing(const Process& process) const;

  const DumpCommand& command_;
  PartialFile* const file_;
  DumpSource source_;
  LocalSymbols symbols_;
  UnmatchedThreads unmatched_;
  std::string unasked_;   // the reason that was reported last
  bool stopped_ = false;  // whether Ctrl-C has stopped the series
};

std::string process_text(const Process& process) {
  return "process " + std::to_string(process.id) + " (" + printable(file_name(process.path), kMaxShownName) + ")";
}

Failure DumpRun::missing(const Process& process) const {
  return {ExitCode::no_thread, process_text(process) + " has no " + unmatched_.text()};
}

// Takes the next dump, of the threads that the command line means.
Outcome<Snapshot> DumpRun::next(bool last) {
  auto snapshot = source_.next(last);
  if (!snapshot) return snapshot;
  complete(*snapshot);
  // A series does not say the reason again and again.
  if (!snapshot->unasked.empty() && std::exchange(unasked_, snapshot->unasked) != snapshot->unasked) {
    print_failure(
        {ExitCode::ok, process_text(snapshot->process) + ": managed frames are missing: " + snapshot->unasked});
  }
  log_threads(*snapshot);
  for (const Moment& moment : snapshot->moments) {
    spdlog::info("the threads of one moment were suspended for {} us", moment.frozen_ns / 1000);
  }
  log_counters(count(*snapshot));
  for (const Thread& thread : snapshot->threads) unmatched_.met(thread.os_id, thread.name);
  const ThreadSelection& threads = command_.visit.sampling.threads;
  std::erase_if(snapshot->threads, [&](const Thread& thread) { return !threads.contains(thread.os_id, thread.name); });
  snapshot->omissions.threads = !threads.empty();
  return snapshot;
}

// Native locks are found by the names of frames, in the memory of the process shortly after its dump. `calls`: of this
// snapshot.
void DumpRun::add_names(Snapshot& snapshot, CallChecker& calls) {
  spdlog::info("symbolising");
  identify(snapshot, symbols_.identities(), symbols_.lines());
  symbolise(snapshot, symbols_.symboliser());
  check_calls(snapshot, calls);
  if (command_.locks) add_native_locks_of(snapshot);
  add_lines(snapshot, symbols_.lines());
}

ExitCode DumpRun::run_one() {
  auto snapshot = next(true);
  if (!snapshot) return print_failure(snapshot.failure());
  if (!unmatched_.empty() && snapshot->threads.empty()) return print_failure(missing(snapshot->process));
  CallChecker calls(symbols_.symboliser(), loaded_images(*snapshot));
  add_names(*snapshot, calls);
  log_missing(symbols_.missing());
  log_calls(count(*snapshot));
  if (const auto failure =
          write_dump(*snapshot, command_, wants_colour(command_, stdout_is_console()), file_, calls)) {
    return print_failure(*failure);
  }
  return unmatched_.empty() ? ExitCode::ok : print_failure(missing(snapshot->process));
}

// Waits until the time of the next dump, or until Ctrl-C. Returns a failure if the process has ended.
std::optional<Failure> DumpRun::wait(const UniqueHandle& process, ULONGLONG until) {
  const ULONGLONG now = GetTickCount64();
  const DWORD left = now < until ? static_cast<DWORD>(until - now) : 0;
  std::array<HANDLE, 2> events{};
  DWORD count = 0;
  if (process) events[count++] = process.get();  // first, so that the end of the process is reported if both happen
  if (const HANDLE ctrl_c = catch_ctrl_c(); ctrl_c != nullptr) events[count++] = ctrl_c;
  if (count == 0) {
    Sleep(left);
    return std::nullopt;
  }
  const DWORD met = WaitForMultipleObjects(count, events.data(), FALSE, left);
  if (met == WAIT_TIMEOUT) return std::nullopt;
  if (process && met == WAIT_OBJECT_0) return Failure{ExitCode::target_exited, {}};
  stopped_ = true;
  return std::nullopt;
}

// The dumps so far are kept, however the series ends.
ExitCode DumpRun::run_series() {
  std::vector<Snapshot> dumps;
  std::optional<Failure> failure;
  UniqueHandle process;  // kept open, so that its id is not reused
  while (dumps.size() < command_.repeat && !stopped_ && !failure) {
    const ULONGLONG begun = GetTickCount64();
    const bool last = dumps.size() + 1 == command_.repeat;
    auto dump = next(last);
    if (!dump) {
      if (dumps.empty()) return print_failure(dump.failure());
      failure = dump.failure();
      break;
    }
    if (dump->threads.empty()) {
      failure = missing(dump->process);
      if (!dumps.empty()) failure->message = "the threads of --thread have ended";
      if (dumps.empty()) return print_failure(*failure);
      break;
    }
    if (!process) {
      process = open_process(SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, dump->process.id);
    }
    catch_ctrl_c();  // from here on there is a dump to keep
    CallChecker calls(symbols_.symboliser(), loaded_images(*dump));
    add_names(*dump, calls);
    dumps.push_back(std::move(*dump));
    spdlog::info("dump {} of {}", dumps.size(), command_.repeat);
    if (!last) failure = wait(process, begun + command_.every_ms);
  }
  if (!failure) source_.leave();
  const Process& target = dumps.front().process;
  if (failure && failure->code == ExitCode::target_exited) {
    DWORD code = 0;
    const bool known = process && GetExitCodeProcess(process.get(), &code);
    failure->message = process_text(target) + " ended" +
                       with_exit_code(known ? std::optional<std::uint32_t>(code) : std::nullopt);
  }
  log_missing(symbols_.missing());
  if (const auto unwritten = write_series(dumps, command_, file_)) return print_failure(*unwritten);
  const std::string kept = fmt::format("{} of {} dumps are written", dumps.size(), command_.repeat);
  if (failure) return print_failure({failure->code, failure->message + "; " + kept});
  if (stopped_) print_failure({ExitCode::ok, "the series was ended by Ctrl-C; " + kept});
  return unmatched_.empty() ? ExitCode::ok : print_failure(missing(target));
}

}  // namespace

ExitCode run(const DumpCommand& command) {
  std::optional<PartialFile> file;
  if (command.output) {
    file.emplace(*command.output);
    if (!file->error().empty()) return print_failure(unwritable_output(command.output, file->error()));
  }
  return DumpRun(command, file ? &*file : nullptr).run();
}

ExitCode run(const DumpFileCommand& command) {
  DiskImageFiles disk;
  LocalImageFiles local(disk);
  DumpFileServices host = dump_file_host(command.file, local, command.symbol_path, command.dac);
  host.colour = wants_colour(command, stdout_is_console());
  return run(command, host);
}

ExitCode run(const HangCommand& command) {
  DiskImageFiles disk;
  LocalImageFiles local(disk);
  return run(command, {.colour = wants_colour(command.colour, command.output.has_value(), stdout_is_console()),
                       .open_dump = [&](const std::string& file) {
                         return read_dump_file(file, dump_file_host(file, local, command.symbol_path, command.dac));
                       }});
}

}  // namespace mixwalk
