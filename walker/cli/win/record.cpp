#include <io.h>
#include <spdlog/spdlog.h>
#include <windows.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "symbols/symboliser.h"
#include "walker/cli/otlp_session.h"
#include "walker/cli/partial_file.h"
#include "walker/cli/report.h"
#include "walker/cli/version.h"
#include "walker/cli/win/command.h"
#include "walker/cli/win/visit.h"
#include "walker/export/recording_filter.h"
#include "walker/session/recording_collector.h"
#include "walker/store/recording_writer.h"
#include "walker/symbolise.h"

namespace mixwalk {
namespace {

// How often the progress line is written, and Ctrl-C looked for.
constexpr std::uint32_t kLookMs = 100;
constexpr ULONGLONG kProgressMs = 1000;

HANDLE g_ctrl_c = nullptr;

// The first one ends the recording and keeps it; the second one is the system's own.
BOOL WINAPI on_ctrl_c(DWORD event) {
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) return FALSE;
  if (WaitForSingleObject(g_ctrl_c, 0) == WAIT_OBJECT_0) return FALSE;
  SetEvent(g_ctrl_c);
  return TRUE;
}

// A .mixwalk file that grows as the samples come: killed at any moment, it is readable.
class GrowingFile final : public ByteSink {
 public:
  explicit GrowingFile(const std::string& path)
      : file_(_wfopen(path_of(path).c_str(), L"wbN")) {}  // N: a program we start inherits nothing
  ~GrowingFile() override {
    if (file_ != nullptr) std::fclose(file_);
  }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  explicit operator bool() const noexcept { return file_ != nullptr; }
  bool write(std::string_view bytes) override {
    return std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size() &&
           std::fflush(file_) == 0;
  }

 private:
  std::FILE* file_;
};

Failure unwritable(const RecordCommand& command) {
  return {ExitCode::output, "cannot write \"" + command.output + "\""};
}

// One recording, from its first bytes to its file.
class RecordingRun {
 public:
  RecordingRun(const RecordCommand& command, DumpSession& session)
      : command_(command),
        session_(session),
        symboliser_(files_),
        collector_([this](RecordedFrame& frame, const Module& module) {
          symbolise(frame, module, symboliser_);
        }) {}

  ExitCode run();

 private:
  bool has_file() const { return command_.format != nullptr; }
  bool is_stored() const { return has_file() && command_.format->name == "mixwalk"; }
  std::optional<Failure> collect();
  std::optional<Failure> take(const RecordedBytes& bytes);
  void show_progress(bool last);
  ExitCode finish();

  const RecordCommand& command_;
  DumpSession& session_;
  DiskImageFiles files_;
  Symboliser symboliser_;
  RecordingCollector collector_;
  std::optional<GrowingFile> file_;
  std::optional<RecordingWriter> writer_;
  std::unique_ptr<OtlpSession> otlp_;
  std::uint64_t samples_ = 0;
  RecordProgress progress_;
  ULONGLONG begun_ = 0;
};

ExitCode RecordingRun::run() {
  if (is_stored()) {
    file_.emplace(command_.output);
    if (!*file_) return report(unwritable(command_));
    writer_.emplace(*file_);
  }
  if (command_.otlp) {
    auto otlp = OtlpSession::open(*command_.otlp, command_.filter);
    if (!otlp) return report(otlp.failure());
    otlp_ = std::move(*otlp);
  }
  RecordRequest request{.sampling = sampling_request(command_.sampling),
                        .event = command_.event,
                        .period_ns = command_.period_ns,
                        .thread_names = command_.thread_names,
                        .type = command_.type,
                        .every = command_.every};
  if (auto failure = session_.begin_record(request)) return report(*failure);
  begun_ = GetTickCount64();
  if (auto failure = collect()) return report(*failure);
  show_progress(true);
  return finish();
}

// Until the time is over, Ctrl-C, or the end of the process: none of them a failure.
std::optional<Failure> RecordingRun::collect() {
  bool stopping = false;
  ULONGLONG last_word = 0;  // until when its end is waited for
  ULONGLONG shown = begun_;
  while (true) {
    const ULONGLONG now = GetTickCount64();
    const bool over = command_.duration_ms != 0 && now - begun_ >= command_.duration_ms;
    if (!stopping && (over || WaitForSingleObject(g_ctrl_c, 0) == WAIT_OBJECT_0)) {
      stopping = true;
      last_word = now + command_.timeout_ms;
      session_.stop_record();
    }
    if (stopping && now >= last_word) {
      return Failure{ExitCode::timeout, "the recording did not come to its end in time"};
    }
    RecordedBytes bytes;
    auto next = session_.next(kLookMs, bytes);
    if (!next) {
      if (next.failure().code == ExitCode::target_exited) return std::nullopt;
      return next.failure();
    }
    if (*next == DumpSession::Next::done) return std::nullopt;
    if (*next == DumpSession::Next::bytes) {
      if (auto failure = take(bytes)) return failure;
    }
    if (now - shown >= kProgressMs) {
      shown = now;
      show_progress(false);
    }
  }
}

std::optional<Failure> RecordingRun::take(const RecordedBytes& bytes) {
  Recording& recording = collector_.recording();
  const std::size_t before = recording.samples.size();
  const bool first = recording.process.id == 0;
  if (const auto problem = collector_.add(bytes.bytes, bytes.new_file); !problem.empty()) {
    return Failure{ExitCode::refused, "the recording makes no sense: " + std::string(problem)};
  }
  // The time asked for is that of the recording, not of the attach and what comes before a sample.
  if (first) begun_ = GetTickCount64() - recording.duration_ns / 1'000'000;
  samples_ += recording.samples.size() - before;
  progress_ = bytes.progress;
  if (first) recording.tool_version = kVersion;
  if (otlp_) otlp_->take(recording, before);
  if (!has_file()) recording.samples.clear();
  if (!writer_) return std::nullopt;
  if (first && !writer_->begin(recording)) return unwritable(command_);
  if (!writer_->append(recording)) return unwritable(command_);
  recording.samples.clear();
  writer_->samples_cleared();
  return std::nullopt;
}

void RecordingRun::show_progress(bool last) {
  const Recording& recording = collector_.recording();
  const ULONGLONG seconds = (GetTickCount64() - begun_) / 1000;
  std::string line = fmt::format("{} s, {} samples of {} threads", seconds, samples_,
                                 recording.threads.size());
  if (progress_.samples != 0) {
    line += fmt::format(", {:.1f} % whole", 100.0 * static_cast<double>(progress_.whole) /
                                                static_cast<double>(progress_.samples));
  }
  line += fmt::format(", {} lost", recording.dropped);
  if (progress_.frozen_p99_ns != 0) {
    line += fmt::format(", stopped for {:.1f} ms (p99)",
                        static_cast<double>(progress_.frozen_p99_ns) / 1e6);
  }
  if (!last && command_.duration_ms != 0) {
    line += fmt::format(", {} s to go",
                        command_.duration_ms / 1000 - std::min<ULONGLONG>(
                                                          seconds, command_.duration_ms / 1000));
  }
  // Not fmt::print: it throws where nobody can read it, and a recording may outlive its terminal.
  const bool terminal = _isatty(_fileno(stderr)) != 0;
  if (terminal) {
    std::fprintf(stderr, "\r%s\x1b[K%s", line.c_str(), last ? "\n" : "");
  } else if (last) {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  std::fflush(stderr);
}

ExitCode RecordingRun::finish() {
  Recording& recording = collector_.recording();
  recording.tool_version = kVersion;
  bool written = true;
  if (writer_) {
    written = writer_->end(recording);
  } else if (has_file()) {
    PartialFile file(command_.output);
    written = command_.format->make()->write(filtered(recording, command_.filter), file) &&
              file.commit().empty();
  }
  if (const std::string problem = session_.leave(); !problem.empty()) spdlog::info(problem);
  const ExitCode sent = otlp_ ? otlp_->finish(recording) : ExitCode::ok;
  return written ? sent : report(unwritable(command_));
}

}  // namespace

ExitCode run(const RecordCommand& command) {
  g_ctrl_c = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  SetConsoleCtrlHandler(&on_ctrl_c, TRUE);
  auto session = visit(command.target, command.timeout_ms);
  if (!session) return report(session.failure());
  return RecordingRun(command, *session).run();
}

}  // namespace mixwalk
