#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "walker/base/count_words.h"
#include "walker/base/version.h"
#include "walker/base/wall_clock.h"
#include "walker/cli/dump_file.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/series_file.h"
#include "walker/cli/output/write_dump.h"
#include "walker/cli/output/write_output.h"
#include "walker/cli/win/command.h"
#include "walker/cli/win/console.h"
#include "walker/cli/win/ctrl_c.h"
#include "walker/cli/win/dump_outside.h"
#include "walker/cli/win/dump_source.h"
#include "walker/model/counters.h"
#include "walker/naming/check_calls.h"
#include "walker/naming/symbolise.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

// How often the progress is shown, and from how many threads on the names take long enough to say so.
constexpr ULONGLONG kShowEveryMs = 1000;
constexpr std::size_t kManyThreads = 500;

void complete(Snapshot& snapshot) {
  snapshot.tool_version = kVersion;
  if (snapshot.unix_time_ms == 0) snapshot.unix_time_ms = unix_time_ms_now();
}

void log_threads(const Snapshot& snapshot) {
  for (const Thread& thread : snapshot.threads) {
    spdlog::info(
        "thread {:#x}: {}, frozen {} us, after {} us{}{}", thread.os_id,
        count_words(thread.stack.frames.size(), "frame"), thread.frozen_ns / 1000, thread.stopping_ns / 1000,
        thread.stack.whole() ? "" : fmt::format(", {}", enum_name(thread.stack.completeness())),
        thread.stack.refusal != 0 ? fmt::format(", DoStackSnapshot refused ({:#x})", thread.stack.refusal) : "");
  }
}

void log_counters(const Counters& counters) {
  spdlog::info(
      "{}, {} whole, {} with guessed frames, {} skipped; frozen p50 {} us, p99 {} us, "
      "max {} us",
      count_words(counters.samples, "sample"), counters.whole, counters.guessed,
      count_words(counters.skipped, "thread"), counters.frozen.p50_ns / 1000, counters.frozen.p99_ns / 1000,
      counters.frozen.max_ns / 1000);
  spdlog::info("until they stood: p50 {} us, p99 {} us, max {} us", counters.stopping.p50_ns / 1000,
               counters.stopping.p99_ns / 1000, counters.stopping.max_ns / 1000);
  if (counters.not_asked != 0) {
    spdlog::info("{} walked from the copy, where a lock of the runtime may be held",
                 counters.not_asked);
  }
  spdlog::info("{} walked from the copy instead; {}, {} failed; {} ended by the supervisor; breaker: {} off{}",
               counters.fallbacks, count_words(counters.probes_run, "probe"), counters.probes_failed,
               count_words(counters.interventions, "freeze"), count_words(counters.breaker.threads_off, "thread"),
               counters.breaker.process_off ? ", process off" : "");
  for (const auto& [hresult, times] : counters.refusals) {
    spdlog::info("DoStackSnapshot refused {} with {:#x}", count_words(times, "time"), hresult);
  }
  spdlog::info("runs: {} closed, {} at the root, {} open; {} cut", counters.runs_closed, counters.runs_root,
               counters.runs_open, count_words(counters.copies_cut, "copy", "copies"));
  for (std::size_t i = 0; i < kOpenReasons; ++i) {
    if (counters.open_by_reason[i] == 0) continue;
    spdlog::info("open {}: {}", count_words(counters.open_by_reason[i], "time"), sentence(static_cast<OpenReason>(i)));
  }
}

void log_calls(const Counters& counters) {
  const auto of = [&](CallCheck call) { return counters.calls[static_cast<std::size_t>(call)]; };
  spdlog::info(
      "calls of {}: {:.1f} % lead to the frame above, {} may, {} lead elsewhere; "
      "{} after no call",
      count_words(counters.calls_checked(), "native frame"), counters.calls_verified() * 100, of(CallCheck::possible),
      of(CallCheck::elsewhere), count_words(of(CallCheck::no_call), "frame is", "frames are"));
}

// The dumps of one command line, from the first dump to the file.
class DumpRun {
 public:
  explicit DumpRun(const DumpCommand& command)
      : command_(command),
        source_(command, [this](std::size_t threads) { show_progress(threads); }),
        symbols_(command.visit.symbols),
        unmatched_(command.visit.sampling.threads) {}

  ExitCode run_one(Output& output);
  ExitCode run_series(SeriesFile& file);

 private:
  Outcome<Snapshot> next(bool last);
  void add_names(Snapshot& snapshot, CallChecker& calls);
  void show_progress(std::size_t threads);
  Failure missing() const {
    return {ExitCode::no_thread, source_.process_text() + " has no " + unmatched_.text() + unmatched_.advice()};
  }

  const DumpCommand& command_;
  DumpSource source_;
  LocalSymbols symbols_;
  UnmatchedThreads unmatched_;
  ProgressLine line_{progress_terminal()};
  ULONGLONG shown_ = 0;   // when the line was written last; at first, when the dump began
  std::string unasked_;   // the reason that was reported last
};

// A dump of thousands of threads takes a while.
void DumpRun::show_progress(std::size_t threads) {
  const ULONGLONG now = GetTickCount64();
  if (now - shown_ < kShowEveryMs) return;
  shown_ = now;
  line_.show(fmt::format("{} so far", count_words(threads, "stack")));
}

// Takes the next dump, of the threads that the command line means.
Outcome<Snapshot> DumpRun::next(bool last) {
  shown_ = GetTickCount64();
  auto snapshot = source_.next(last);
  line_.clear();
  if (!snapshot) return snapshot;
  complete(*snapshot);
  if (!command_.visit.no_host) snapshot->process.host = machine_name();
  // A series does not say the reason again and again.
  if (!snapshot->unasked.empty() && std::exchange(unasked_, snapshot->unasked) != snapshot->unasked) {
    print_failure({ExitCode::ok, source_.process_text() + ": managed frames are missing: " + snapshot->unasked});
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
  const bool is_large = snapshot.threads.size() >= kManyThreads;
  if (is_large) line_.show("finding the names of the frames of " + count_words(snapshot.threads.size(), "thread"));
  identify(snapshot, symbols_.identities(), symbols_.lines());
  symbolise(snapshot, symbols_.symboliser());
  check_calls(snapshot, calls);
  if (command_.locks) add_native_locks_of(snapshot);
  add_lines(snapshot, symbols_.lines());
  symbols_.loader().release_ctrl_c();
  if (is_large) line_.clear();
}

ExitCode DumpRun::run_one(Output& output) {
  auto snapshot = next(true);
  if (!snapshot) return print_failure(snapshot.failure());
  if (!unmatched_.empty() && snapshot->threads.empty()) return print_failure(missing());
  CallChecker calls(symbols_.symboliser(), loaded_images(*snapshot));
  add_names(*snapshot, calls);
  if (const std::string text = missing_text(symbols_.missing()); !text.empty()) spdlog::info(text);
  say_symbol_problems(symbols_.problems());
  symbols_.say();
  log_calls(count(*snapshot));
  if (const auto failure =
          write_dump(*snapshot, command_, wants_colour(command_, supports_escapes(stdout)), output, calls)) {
    return print_failure(*failure);
  }
  return unmatched_.empty() ? ExitCode::ok : print_failure(missing());
}

// Each dump is in the file when it was made. The dumps so far are kept, however the series ends.
ExitCode DumpRun::run_series(SeriesFile& file) {
  std::optional<Failure> failure;
  bool stopped = false;  // whether Ctrl-C has stopped the series
  while (!stopped && !failure) {
    const ULONGLONG begun = GetTickCount64();
    const bool last = file.dumps() + 1 == command_.repeat;
    auto dump = next(last);
    if (!dump) {
      if (file.dumps() == 0) return print_failure(dump.failure());
      failure = dump.failure().code == ExitCode::target_exited ? source_.end() : dump.failure();
      break;
    }
    if (dump->threads.empty()) {
      if (file.dumps() == 0) return print_failure(missing());
      failure = {ExitCode::no_thread, "the threads of --thread have ended"};
      break;
    }
    const HANDLE ctrl_c = catch_ctrl_c();  // from here on there is a dump to keep
    CallChecker calls(symbols_.symboliser(), loaded_images(*dump));
    add_names(*dump, calls);
    failure = file.add(*dump);
    if (failure) break;
    spdlog::info("dump {} of {}", file.dumps(), command_.repeat);
    if (last) break;
    using Event = DumpSource::Event;
    const Event event = source_.wait(begun + command_.every_ms, ctrl_c);
    stopped = event == Event::stop;
    if (event == Event::end_of_process) failure = source_.end();
  }
  if (!failure) source_.leave();
  if (const std::string text = missing_text(symbols_.missing()); !text.empty()) spdlog::info(text);
  say_symbol_problems(symbols_.problems());
  symbols_.say();
  const std::string kept = fmt::format("{} of {} dumps {} written", file.dumps(), command_.repeat,
                                       file.dumps() == 1 ? "is" : "are");
  if (!failure || failure->code != ExitCode::output) {
    if (const auto unwritten = file.end()) return print_failure(*unwritten);
  }
  if (failure) return print_failure({failure->code, failure->message + "; " + kept});
  if (stopped) print_failure({ExitCode::ok, "the series was ended by Ctrl-C; " + kept});
  return unmatched_.empty() ? ExitCode::ok : print_failure(missing());
}

}  // namespace

ExitCode run(const DumpCommand& command) {
  if (const auto failure = refuse_terminal(*command.format, command.output)) return print_failure(*failure);
  say_missing_folders(command.visit.symbols);
  if (command.repeat > 1) {
    const auto file = SeriesFile::open(command.output);
    return file ? DumpRun(command).run_series(**file) : print_failure(file.failure());
  }
  Output output(command.output);
  if (const auto failure = output.failure()) return print_failure(*failure);
  return DumpRun(command).run_one(output);
}

}  // namespace mixwalk
