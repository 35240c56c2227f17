#include <windows.h>

#include <cstdio>
#include <stdexcept>

#include "tests/bench/program.h"
#include "tests/end_to_end/session.h"
#include "walker/session/recording_collector.h"

namespace mixwalk::bench {
namespace {

// Records to the end. The received chunks are put together as in mixwalk.exe, but without names.
Recording record(TargetSession& session, std::uint64_t ms) {
  RecordingCollector collector([](Frame frame, const Module&) { return std::vector{std::move(frame)}; });
  if (auto failure = session.begin_record({})) throw std::runtime_error(failure->message);
  RecordedBytes bytes;
  bool stopping = false;
  for (const ULONGLONG end = GetTickCount64() + ms;;) {
    if (!stopping && GetTickCount64() >= end) {
      stopping = true;
      session.stop_record();
    }
    const auto next = session.next(50, bytes);
    if (!next) throw std::runtime_error(next.failure().message);
    if (*next == TargetSession::Next::done) return std::move(collector.recording());
    if (*next == TargetSession::Next::bytes) collector.add(bytes.bytes, bytes.new_file);
  }
}

void show(const char* what, const std::vector<std::string>& program_options, std::uint64_t ms) {
  const std::string file = rows_file();
  Recording recording;
  {
    const Program program(program_options);
    TargetSession session = attach_to(program.id(), "mixwalk_bench.dll", kVisitMs);
    recording = record(session, ms);
    session.leave();
  }
  const double samples = static_cast<double>(recording.samples.size());
  const double seconds = static_cast<double>(recording.duration_ns) / 1e9;
  const double threads = static_cast<double>(recording.threads.size());
  std::printf(
      "\nA recording of %s at 100 Hz: %.0f threads, %.0f samples/s, %.1f of each thread, %llu "
      "dropped\n",
      what, threads, samples / seconds, samples / seconds / threads, recording.dropped);
  Rows rows = read_rows(file);
  std::printf("  %-16s %10s %12s %14s %12s\n", "phase", "calls", "us a call", "us a sample",
              "% of time");
  double all = 0, sum = 0;
  for (const auto& row : rows["phase"]) {
    if (row[0] == "all") all = std::stod(row[2]) / 1000;
  }
  for (const auto& row : rows["phase"]) {
    if (row[0] == "all") continue;
    const double calls = std::stod(row[1]), us = std::stod(row[2]) / 1000;
    sum += us;
    std::printf("  %-16s %10.0f %12.2f %14.2f %12.1f\n", row[0].c_str(), calls,
                calls == 0 ? 0 : us / calls, us / samples, 100 * us / all);
  }
  std::printf("  %-16s %10s %12s %14.2f %12.1f\n", "waiting and rest", "", "",
              (all - sum) / samples, 100 * (all - sum) / all);
  for (const auto& row : rows["cpu"]) {
    std::printf("  CPU time of the sampler's thread: %.1f us a sample\n", std::stod(row[0]) / 1000 / samples);
  }
}

}  // namespace

void show_record_phases(const Options& options) {
  const std::uint64_t ms = options.quick ? 500 : 8000;
  show("20 busy threads", {"--work", "20"}, ms);
  show("20 threads that work a fortieth of the time", {"--pause", "40", "--work", "20"}, ms);
  show("20 waiting threads", {"--native", "10", "--managed", "10"}, ms);
}

}  // namespace mixwalk::bench
