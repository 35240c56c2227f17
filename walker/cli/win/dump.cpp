#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "walker/base/count_words.h"
#include "walker/base/version.h"
#include "walker/base/wall_clock.h"
#include "walker/cli/chosen_threads.h"
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
#include "walker/cli/win/taken_dumps.h"
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
        symbols_(command.visit.symbols),
        source_(command, [this](std::size_t threads) { show_progress(threads); }, symbols_.loader()),
        unmatched_(command.visit.sampling.threads) {}

  ExitCode run_one(Output& output);
  ExitCode run_series(SeriesFile& file);
  TakenDumps take();

 private:
  // How a series ended.
  struct SeriesEnd {
    std::size_t taken = 0;           // dumps with threads
    std::optional<Failure> failure;  // why no more dumps were taken
    bool stopped = false;            // by Ctrl-C
  };
  SeriesEnd take_series(const std::function<std::optional<Failure>(Snapshot&)>& keep);
  void say_symbols();
  Outcome<Snapshot> next(bool last);
  void add_names(Snapshot& snapshot, CallChecker& calls);
  void show_progress(std::size_t threads);
  Failure missing() const {
    return {ExitCode::no_thread, source_.process_text() + " has no " + unmatched_.text() + unmatched_.advice()};
  }

  const DumpCommand& command_;
  LocalSymbols symbols_;
  DumpSource source_;
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
  keep_chosen_threads(*snapshot, command_.visit.sampling.threads, unmatched_);
  return snapshot;
}

void name_frames(Snapshot& snapshot, LocalSymbols& symbols, CallChecker& calls) {
  identify(snapshot, symbols.identities(), symbols.lines());
  symbolise(snapshot, symbols.symboliser());
  check_calls(snapshot, calls);
}

// Native locks are found by the names of frames, in the memory of the process shortly after its dump. `calls`: of this
// snapshot.
void DumpRun::add_names(Snapshot& snapshot, CallChecker& calls) {
  spdlog::info("symbolising");
  const bool is_large = snapshot.threads.size() >= kManyThreads;
  if (is_large) line_.show("finding the names of the frames of " + count_words(snapshot.threads.size(), "thread"));
  if (command_.locks && symbols_.loader().servers() != nullptr) {
    // Servers may take long. The locks are those of the process shortly after its dump, so they are looked for by the
    // names that this machine has.
    Snapshot here = snapshot;
    LocalSymbols symbols(offline(command_.visit.symbols));
    CallChecker calls_here(symbols.symboliser(), loaded_images(here));
    name_frames(here, symbols, calls_here);
    add_native_locks_of(here);
    snapshot.locks = std::move(here.locks);
    snapshot.locks_missing = std::move(here.locks_missing);
    name_frames(snapshot, symbols_, calls);
  } else {
    name_frames(snapshot, symbols_, calls);
    if (command_.locks) add_native_locks_of(snapshot);
  }
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
  say_symbols();
  log_calls(count(*snapshot));
  if (const auto failure =
          write_dump(*snapshot, command_, wants_colour(command_, supports_escapes(stdout)), output, calls)) {
    return print_failure(*failure);
  }
  return unmatched_.empty() ? ExitCode::ok : print_failure(missing());
}

// Takes the dumps of a series. `keep` gets each dump with its names, and returns why it could not be kept.
DumpRun::SeriesEnd DumpRun::take_series(const std::function<std::optional<Failure>(Snapshot&)>& keep) {
  SeriesEnd end;
  while (!end.stopped && !end.failure) {
    const ULONGLONG begun = GetTickCount64();
    const bool last = end.taken + 1 == command_.repeat;
    auto dump = next(last);
    if (!dump) {
      const bool ended = end.taken != 0 && dump.failure().code == ExitCode::target_exited;
      end.failure = ended ? source_.end() : dump.failure();
      return end;
    }
    if (dump->threads.empty()) {
      end.failure = end.taken == 0 ? missing() : Failure{ExitCode::no_thread, "the threads of --thread have ended"};
      return end;
    }
    const HANDLE ctrl_c = catch_ctrl_c();  // from here on there is a dump to keep
    CallChecker calls(symbols_.symboliser(), loaded_images(*dump));
    add_names(*dump, calls);
    ++end.taken;
    end.failure = keep(*dump);
    if (end.failure) break;
    spdlog::info("dump {} of {}", end.taken, command_.repeat);
    if (last) {
      end.stopped = WaitForSingleObject(ctrl_c, 0) == WAIT_OBJECT_0;
      break;
    }
    line_.show(fmt::format("dump {} of {} is taken", end.taken, command_.repeat));
    using Event = DumpSource::Event;
    const Event event = source_.wait(begun + command_.every_ms, ctrl_c);
    line_.clear();
    end.stopped = event == Event::stop;
    if (event == Event::end_of_process) end.failure = source_.end();
  }
  if (!end.failure) source_.leave();
  return end;
}

void DumpRun::say_symbols() {
  if (const std::string text = missing_text(symbols_.missing()); !text.empty()) spdlog::info(text);
  say_symbol_problems(symbols_.problems());
  symbols_.say();
}

TakenDumps DumpRun::take() {
  TakenDumps taken;
  SeriesEnd end = take_series([&](Snapshot& dump) {
    taken.dumps.push_back(std::move(dump));
    return std::nullopt;
  });
  taken.process = source_.process_text();
  taken.failure = std::move(end.failure);
  taken.stopped = end.stopped;
  if (!taken.dumps.empty()) say_symbols();
  return taken;
}

// Each dump is in the file when it was made. The dumps so far are kept, however the series ends.
ExitCode DumpRun::run_series(SeriesFile& file) {
  const auto [taken, failure, stopped] = take_series([&](Snapshot& dump) { return file.add(dump); });
  if (taken == 0) return print_failure(*failure);
  say_symbols();
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

TakenDumps take_dumps(const DumpCommand& command) { return DumpRun(command).take(); }

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
