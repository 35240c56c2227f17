#include <spdlog/spdlog.h>
#include <windows.h>

#include <algorithm>
#include <cstdio>

#include "walker/base/count_words.h"
#include "walker/base/version.h"
#include "walker/base/wall_clock.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/output/otlp_session.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/record_summary.h"
#include "walker/cli/win/command.h"
#include "walker/cli/win/console.h"
#include "walker/cli/win/ctrl_c.h"
#include "walker/cli/win/record_output.h"
#include "walker/cli/win/visit.h"
#include "walker/hang/standings.h"
#include "walker/naming/symbolise.h"
#include "walker/session/recording_collector.h"
#include "walker/session/visit_failure.h"
#include "walker/session/win/patched_calls_of.h"
#include "walker/session/win/processes.h"

namespace mixwalk {
namespace {

// How often the progress line is written and Ctrl-C is checked.
constexpr std::uint32_t kLookMs = 100;
constexpr ULONGLONG kProgressMs = 1000;
// How long to wait for a process that is ending.
constexpr std::uint32_t kEndingMs = 1000;
// If other software has patched system calls of the target, mixwalk.exe may have to end freezes (TargetWatch::
// given_back()). After so many freezes, of one thread or of several, the recording ends, because each time a thread
// stood for some 200 ms.
constexpr int kMostStands = 3;

// While mixwalk waits for a server, it would not take the samples of the target, and some would be lost.
SymbolChoice offline(SymbolChoice symbols) {
  symbols.asking = SymbolAsking::offline;
  return symbols;
}

// The destinations of a recording: a file, a collector, or both.
struct Outputs {
  std::unique_ptr<RecordOutput> file;
  std::unique_ptr<OtlpSession> otlp;
};

Outcome<Outputs> open_outputs(const RecordCommand& command) {
  Outputs outputs;
  if (command.format != nullptr) {
    auto file = RecordOutput::open(command);
    if (!file) return file.failure();
    outputs.file = std::move(*file);
  }
  if (command.otlp) {
    auto otlp = OtlpSession::open(*command.otlp, command.filter);
    if (!otlp) return otlp.failure();
    outputs.otlp = std::move(*otlp);
  }
  return outputs;
}

// One recording, from its first bytes to its file.
class RecordingRun {
 public:
  RecordingRun(const RecordCommand& command, TargetSession& session, Outputs outputs)
      : command_(command),
        session_(session),
        outputs_(std::move(outputs)),
        symbols_(offline(command.visit.symbols)),
        collector_([this](Frame frame, const Module& module) {
          return symbolised(std::move(frame), module, symbols_.symboliser());
        }, [this](Frame& frame, const Assembly& assembly) {
          add_line(frame, assembly, symbols_.lines());
        }, {[this](Module& module) {
          module.code_view.reset();  // the build is not taken from the target
          identify(module, symbols_.identities());
        }, [this](Assembly& assembly) {
          assembly.pdb.reset();
          identify(assembly, symbols_.lines());
        }}),
        unmatched_(command.visit.sampling.threads) {
    if (outputs_.file) outputs_.file->begin(collector_);
  }

  ExitCode run();

 private:
  // How the recording ended.
  struct End {
    std::optional<Failure> failure;
    bool of_process = false;  // whether the process ended by itself
  };

  End collect();
  std::string stands_by_patches() const;
  std::optional<Failure> harm_by_patches() const;
  std::optional<Failure> take(const RecordedBytes& bytes);
  std::optional<Failure> make_room();
  void count_lost_events(bool process_ends);
  void note_threads();
  void show_progress(bool last);
  ExitCode finish(const End& end);
  void complete(Recording& recording) const;
  void say_end_of_process() const;
  void say_missing_pdbs() const;
  std::string process_text() const { return describe_process(session_.target_id(), session_.target_name()); }
  std::uint64_t seconds() const { return (GetTickCount64() - begun_) / 1000; }

  const RecordCommand& command_;
  TargetSession& session_;
  Outputs outputs_;
  LocalSymbols symbols_;
  RecordingCollector collector_;
  RecordedStandings standings_;
  RecordSummary summary_;
  UnmatchedThreads unmatched_;
  bool full_ = false;  // no more data can be kept, so the recording must end
  bool has_begun_ = false;  // whether the target has sent the beginning of the recording
  ULONGLONG begun_ = 0;     // when it began; until then, when it was requested
  ProgressLine line_{progress_terminal()};
};

ExitCode RecordingRun::run() {
  const RecordRequest request{.sampling = sampling_request(command_.visit.sampling),
                              .event = command_.event,
                              .period_ns = command_.period_ns,
                              .thread_names = command_.visit.sampling.threads.names,
                              .type = command_.type,
                              .every = command_.every,
                              .budget = command_.budget};
  if (const auto failure = session_.greet()) return print_failure(*failure);
  watch_freezes_of(session_, request.sampling.deadline_ms);
  if (const auto failure = session_.begin_record(request)) return print_failure(*failure);
  if (const auto patched = session_.patched_calls(); !patched.empty()) {
    spdlog::info(patched_calls_text(patched));
  }
  begun_ = GetTickCount64();
  const End end = collect();
  count_lost_events(end.of_process);
  // If a target failed before its first message, there is nothing to write.
  if (end.failure && collector_.recording().process.id == 0) return print_failure(*end.failure);
  show_progress(true);
  return finish(end);
}

// Collects until the time is over, until Ctrl-C, or until the process ends; none of these is a failure.
RecordingRun::End RecordingRun::collect() {
  bool stopping = false;
  std::optional<Failure> harm;
  ULONGLONG last_word = 0;  // the time until which the end of the recording is awaited
  ULONGLONG shown = begun_;
  while (true) {
    const ULONGLONG now = GetTickCount64();
    // The requested time begins with the recording, which on a busy machine may be seconds after the request.
    const std::uint64_t limit = std::uint64_t{command_.duration_ms} + (has_begun_ ? 0 : command_.visit.timeout_ms);
    const bool over = command_.duration_ms != 0 && now - begun_ >= limit;
    watch_freezes_of(session_, command_.visit.sampling.deadline_ms);  // if patches were found since
    if (!stopping) harm = harm_by_patches();
    if (!stopping && (over || full_ || harm || WaitForSingleObject(catch_ctrl_c(), 0) == WAIT_OBJECT_0)) {
      stopping = true;
      last_word = now + command_.visit.timeout_ms;
      session_.stop_record();
    }
    if (stopping && now >= last_word) {
      return {Failure{ExitCode::timeout, process_text() + " did not " + (has_begun_ ? "end" : "begin") +
                                             " the recording in time"}};
    }
    RecordedBytes bytes;
    auto next = session_.next(kLookMs, bytes);
    if (!next) {
      if (next.failure().code != ExitCode::target_exited) return {next.failure()};
      return {.of_process = !stopping};
    }
    if (*next == TargetSession::Next::done) return {.failure = std::move(harm), .of_process = !stopping};
    if (*next == TargetSession::Next::bytes) {
      if (auto failure = take(bytes)) return {std::move(failure)};
    }
    if (now - shown >= kProgressMs) {
      shown = now;
      show_progress(false);
    }
  }
}

std::string RecordingRun::stands_by_patches() const {
  const int times = session_.given_back();
  const auto found = patched_calls_of(session_.target_id());  // there may be more than at the beginning
  const std::vector<PatchedCall> patched = found ? *found : std::vector<PatchedCall>();
  return fmt::format("{} a thread of {} stood still until mixwalk.exe resumed it, because {}; \"dump\" reads such a "
                     "process from outside",
                     times == 1 ? std::string("once") : fmt::format("{} times", times), process_text(),
                     patched_calls_text(patched));
}

// Why the recording must end so that the target is not slowed down; nothing if it may go on.
std::optional<Failure> RecordingRun::harm_by_patches() const {
  if (!session_.patched() || session_.given_back() < kMostStands) return std::nullopt;
  return Failure{ExitCode::refused, "the recording ends here: " + stands_by_patches()};
}

std::optional<Failure> RecordingRun::take(const RecordedBytes& bytes) {
  Recording& recording = collector_.recording();
  const std::size_t before = recording.samples.size();
  if (const auto problem = collector_.add(bytes.bytes, bytes.new_file); !problem.empty()) {
    return Failure{ExitCode::refused, "the recording is not valid: " + std::string(problem)};
  }
  // The requested time applies to the recording, not to the attach and the time before the first sample.
  if (!has_begun_ && recording.process.id != 0) {
    has_begun_ = true;
    begun_ = GetTickCount64() - recording.duration_ns / 1'000'000;
  }
  if (summary_.samples() == 0 && recording.samples.size() != before) {
    spdlog::info("the first samples are here");
  }
  if (!command_.visit.no_host) recording.process.host = machine_name();
  standings_.mark(recording, before);
  summary_.take(recording, before, bytes.progress);
  recording.tool_version = kVersion;  // also for a recording that begins anew
  if (outputs_.otlp) outputs_.otlp->take(recording, before);
  if (!outputs_.file) {
    recording.samples.clear();
  } else if (auto failure = outputs_.file->take()) {
    return failure;
  }
  return make_room();
}

// A recording may go on for days, so stored data is removed from memory. Other formats are made from the whole
// recording at its end, so with them the recording ends when no more can be kept.
std::optional<Failure> RecordingRun::make_room() {
  Recording& recording = collector_.recording();
  RecordOutput* const file = outputs_.file.get();
  const bool reached = file != nullptr ? file->is_full() : PieceLimits{}.reached_by(recording, 0);
  if (!reached || full_) return std::nullopt;
  if (file != nullptr && !file->has_pieces()) {
    full_ = true;
    print_failure({ExitCode::ok, fmt::format("the recording ends here: {} samples are the limit for the "
                                      "format {}. With -o NAME.mixwalk a recording can last for days",
                                      summary_.samples(), command_.format->name)});
    return std::nullopt;
  }
  note_threads();
  summary_.end_piece(recording);
  if (outputs_.otlp) outputs_.otlp->cut(recording);
  if (file == nullptr) {
    collector_.begin_piece();
  } else if (auto failure = file->cut()) {
    return failure;
  }
  standings_.begin_anew();
  summary_.begin_piece(recording);
  return std::nullopt;
}

// Counts the events that happened in the target but were not sent, because the target ended. mixwalk.dll sends its last
// message shortly before the end, and other threads may throw up to the end.
void RecordingRun::count_lost_events(bool process_ends) {
  if (process_ends && is_moment(command_.event)) session_.exit_code(kEndingMs);
  const RecordProgress& told = summary_.progress();
  const std::uint64_t happened = session_.events();
  if (happened <= told.events) return;
  Recording& recording = collector_.recording();
  collector_.add_lost(happened - told.events);
  summary_.take(recording, recording.samples.size(), told);
}

void RecordingRun::note_threads() {
  for (const auto& thread : collector_.recording().threads) {
    unmatched_.met(thread.os_id, thread.name);
  }
}

void RecordingRun::show_progress(bool last) {
  const std::uint64_t seconds = this->seconds();
  if (last) {
    line_.clear();
    std::fprintf(stderr, "%s\n", summary_.line(seconds).c_str());
    std::fflush(stderr);
  } else if (!has_begun_) {
    line_.show(fmt::format("{} s, waiting for the recording to begin", seconds));
  } else {
    line_.show(summary_.line(seconds, command_.duration_ms / 1000));
  }
}

// Fills in the header if the target ended before it sent one.
void RecordingRun::complete(Recording& recording) const {
  recording.tool_version = kVersion;
  if (recording.process.id != 0) return;
  recording.process = {session_.target_id(), session_.target_name(), {},
                       command_.visit.no_host ? std::string() : machine_name()};
  recording.event = command_.event;
  recording.period_ns = is_moment(command_.event) ? 0 : command_.period_ns;
  recording.engine = command_.visit.sampling.engine;
  recording.unix_time_ms = unix_time_ms_now();
}

void RecordingRun::say_end_of_process() const {
  std::string text = process_text() + " ended" + with_exit_code(session_.exit_code(kEndingMs));
  if (command_.duration_ms != 0 && has_begun_) {
    text += fmt::format(" after {} of {} s", seconds(), command_.duration_ms / 1000);
  }
  if (summary_.samples() == 0) text += ", before a sample was taken: the recording is empty";
  print_failure({ExitCode::ok, text});
}

void RecordingRun::say_missing_pdbs() const {
  const std::vector<MissingPdb> missing = symbols_.missing();
  if (missing.empty()) return;
  spdlog::info(missing_text(missing));
  if (command_.format == nullptr || command_.format->id != Format::mixwalk) return;
  print_failure(
      {ExitCode::ok,
       not_found_words(missing) + "; mixwalk symbolise FILE --symbols online asks Microsoft's symbol server for them"});
}

// Writes and sends all samples so far, even if the recording failed in the middle.
ExitCode RecordingRun::finish(const End& end) {
  ExitCode code = ExitCode::ok;
  const auto say = [&](const Failure& failure) {
    print_failure(failure);
    if (code == ExitCode::ok) code = failure.code;
  };
  if (end.failure) say(*end.failure);
  Recording& recording = collector_.recording();
  complete(recording);
  note_threads();
  if (!unmatched_.empty()) {
    const std::string unsampled = unmatched_.text();
    // A thread that did not run, or for which a busy machine had no time, exists nevertheless.
    meet_threads_of(session_.target_id(), unmatched_);
    say({unmatched_.empty() ? ExitCode::ok : ExitCode::no_thread,
         "no sample was taken of any " + unsampled + (unmatched_.empty() ? "" : unmatched_.advice())});
  }
  // mixwalk.dll leaves the target before anything that may take long.
  if (!end.failure) {
    if (const std::string problem = session_.leave(); !problem.empty()) spdlog::info(problem);
  }
  if (end.of_process) say_end_of_process();
  const bool empty = summary_.samples() == 0 && recording.dropped == 0 && !end.failure;
  if (empty && (!end.of_process || !command_.type.empty())) {
    print_failure({ExitCode::ok, no_sample_words(command_.event, command_.type)});
  }
  if (const std::uint64_t unjudged = session_.unjudged_events(); is_moment(command_.event) && unjudged != 0) {
    print_failure({ExitCode::ok, count_words(unjudged, "more event") +
                                     " happened while the process ended. It is not known "
                                     "how many of them were asked for, so they are not counted as lost"});
  }
  say_symbol_problems(symbols_.problems());
  say_missing_pdbs();
  if (const int times = session_.given_back(); times != 0 && session_.patched()) {
    // The person must know why there are few samples, and what the recording has done to the program.
    if (code != ExitCode::refused) print_failure({ExitCode::ok, stands_by_patches()});
  } else if (times != 0) {
    spdlog::info("mixwalk.exe ended {} of a thread, which mixwalk.dll had left suspended",
                 count_words(static_cast<std::uint64_t>(times), "freeze"));
  }
  if (outputs_.file) {
    if (const auto failure = outputs_.file->finish()) {
      // If the file's failure ended the recording, it was reported already.
      if (code != ExitCode::output) say(*failure);
    } else if (const std::string said = outputs_.file->said(); !said.empty()) {
      print_failure({ExitCode::ok, said});
    }
  }
  const ExitCode sent = outputs_.otlp ? outputs_.otlp->finish(recording) : ExitCode::ok;
  return code == ExitCode::ok ? sent : code;
}

}  // namespace

ExitCode run(const RecordCommand& command) {
  say_missing_folders(command.visit.symbols);
  catch_ctrl_c();
  auto outputs = open_outputs(command);
  if (!outputs) return print_failure(outputs.failure());
  auto session = visit(command.visit);
  if (!session) return print_failure(session.failure());
  return RecordingRun(command, *session, std::move(*outputs)).run();
}

}  // namespace mixwalk
