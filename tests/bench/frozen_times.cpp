#include <windows.h>

#include <cstdio>
#include <stdexcept>

#include "tests/bench/measurements.h"
#include "tests/bench/program.h"
#include "tests/bench/table.h"
#include "tests/end_to_end/session.h"

namespace mixwalk::bench {
namespace {

// The limit for a ratio of medians of the same run, from the issue.
constexpr double kSnapshotOverSeeded = 1.05;
constexpr double kCopyOverFloor = 1.15;
constexpr double kAutoOverSeededInRuntime = 0.60;
constexpr double kAtOnceOverFloors = 1.2;
constexpr double kFillUs = 0.25;
constexpr char kInRuntime[] = "managed";  // the fixture's name for threads that wait in the runtime

constexpr const char* kWays[] = {kFloor,        kSeeded,         kSeededCanary, kSnapshotNever,
                                 kSnapshotRisk, kSnapshotAlways, kCopy, kAuto};

using Frozen = std::map<std::string, std::map<std::string, std::vector<double>>>;  // by kind and way, in us

Rows measure(const std::vector<std::string>& options, int rounds) {
  const std::string file = rows_file();
  SetEnvironmentVariableA(kRoundsVariable, std::to_string(rounds).c_str());
  const Program program(options);
  TargetSession session = attach_to(program.id(), "mixwalk_bench.dll", kVisitMs);
  if (const auto done = session.dump({}); !done) throw std::runtime_error(done.failure().message);
  session.leave();
  return read_rows(file);
}

double us(const std::string& ns) {
  return std::stod(ns) / 1000;
}

Frozen frozen_times(Rows& rows) {
  Frozen times;
  for (const auto& row : rows["freeze"]) times[row[1]][row[0]].push_back(us(row[2]));
  return times;
}

// The median number of frames that DoStackSnapshot walked.
double depth_of(Rows& rows, const std::string& kind) {
  std::vector<double> frames;
  for (const auto& row : rows["merge"]) {
    if (row[0] == kind) frames.push_back(std::stod(row[3]));
  }
  return median(frames);
}

void show_parts(Rows& rows, const std::string& kind) {
  std::map<std::string, std::vector<double>> parts;
  for (const auto& row : rows["part"]) {
    if (row[1] == kind) parts[row[0]].push_back(us(row[2]));
  }
  std::printf("  of snapshot-risk, median us:");
  for (const char* part : {"suspend", "registers", "copy", "leaf-walk-and-rest", "is-managed",
                           "probe", "DoStackSnapshot", "resume"}) {
    std::printf("  %s %.1f", part, median(parts[part]));
  }
  std::printf("\n");
}

// `judged` says that there are enough samples to compare them with the targets.
void show_ways(Rows& rows, bool judged) {
  for (auto& [kind, ways] : frozen_times(rows)) {
    const double floor = median(ways[kFloor]), seeded = median(ways[kSeeded]);
    const double canary = median(ways[kSeededCanary]);
    std::printf("\nFrozen time of a sample, threads \"%s\", %.0f frames deep, %zu samples a way\n",
                kind.c_str(), depth_of(rows, kind), ways[kFloor].size());
    std::printf("  %-20s %10s %10s %9s %15s\n", "", "median us", "p99 us", "x floor",
                "x managed-only");
    for (const char* way : kWays) {
      if (ways[way].empty()) {
        // On a busy machine a canary may fail for each sample if there are only a handful.
        if (judged) throw std::runtime_error(std::string("no sample by ") + way);
        std::printf("  %-20s %10s\n", way, "no sample");
        continue;
      }
      const Summary summary = summarise(ways[way]);
      std::printf("  %-20s %10.1f %10.1f %9.2f %15.2f\n", way, summary.median, summary.p99,
                  summary.median / floor, summary.median / seeded);
    }
    show_parts(rows, kind);
    if (!judged) continue;
    show_target("snapshot-never / managed-only", median(ways[kSnapshotNever]) / seeded,
                kSnapshotOverSeeded);
    show_target("snapshot-always / managed-only+canary", median(ways[kSnapshotAlways]) / canary,
                kSnapshotOverSeeded);
    const bool of_runtime = kind == kInRuntime;
    show_target("auto / managed-only", median(ways[kAuto]) / seeded,
                of_runtime ? kAutoOverSeededInRuntime : kSnapshotOverSeeded);
    if (of_runtime) show_target("auto / floor", median(ways[kAuto]) / floor, kCopyOverFloor);
    show_target("copy / floor", median(ways[kCopy]) / floor, kCopyOverFloor);
  }
}

// Filling is the work of merge for frames that are not managed, without its questions to the CLR.
void show_merge(Rows& rows) {
  double merge = 0, rewrite = 0, frames = 0, unmanaged = 0;
  for (const auto& row : rows["merge"]) {
    merge += us(row[1]);
    rewrite += us(row[2]);
    frames += std::stod(row[3]);
    unmanaged += std::stod(row[4]);
  }
  double ask = 0, asked = 0;
  std::vector<double> image, dynamic;  // of one sample, in us per step
  for (const auto& row : rows["step"]) {
    if (row[1] != "0") image.push_back(us(row[0]) / std::stod(row[1]));
    if (row[3] != "0") dynamic.push_back(us(row[2]) / std::stod(row[3]));
    ask += us(row[4]);
    asked += std::stod(row[5]);
  }
  const double merges = static_cast<double>(rows["merge"].size());
  std::printf(
      "\nFilling, after the resume: %.0f samples, %.0f frames each, %.0f of them not managed\n",
      merges, frames / merges, unmanaged / merges);
  std::printf(
      "  a step by RtlVirtualUnwind, median of the samples: %.3f us in images, %.3f us in code that "
      "the runtime made\n",
      median(image), median(dynamic));
  std::printf("  a question to the CLR (GetFunctionFromIP3): %.3f us, %.1f a sample\n", ask / asked,
              asked / merges);
  std::printf(
      "  merge, all of it: %.1f us a sample, %.3f us a frame; rewriting the copy: %.2f us\n",
      merge / merges, merge / frames, rewrite / merges);
  show_target("filling, a native frame", median(image), kFillUs, " us");
}

}  // namespace

void show_frozen_times(const Options& options) {
  Rows rows = measure({"--native", "8", "--managed", "8"}, options.quick ? 3 : 400);
  show_ways(rows, !options.quick);
  show_merge(rows);
  // There are no more threads than processors, because otherwise the time of a thread would mostly be its wait for a
  // processor.
  Rows working = measure({"--work", "2"}, options.quick ? 3 : 400);
  show_ways(working, !options.quick);
  if (options.quick) return;
  // Here there are far more threads than processors. The floor shows how much of a sample is the wait for a processor.
  Rows crowded = measure({"--work", "20"}, 2);
  show_ways(crowded, false);
}

void show_scaling(const Options& options) {
  struct Size {
    int threads, depth, rounds;
  };
  std::vector<Size> sizes = {{10, 20, 100},  {100, 20, 12},  {200, 20, 8},   {1000, 20, 2},
                             {10, 10, 100},  {10, 100, 100}, {10, 1000, 40}, {10, 5000, 15}};
  if (options.quick) sizes = {{4, 10, 2}};
  std::printf("\nAs threads and frames become more, median us frozen (x floor)\n");
  std::printf("  %7s %7s %8s %18s %18s %18s %18s %24s\n", "threads", "frames", "floor", kSeeded,
              kSnapshotNever, kSnapshotRisk, kCopy, "at once, all threads");
  for (const Size& size : sizes) {
    const std::string half = std::to_string(size.threads / 2);
    Rows rows = measure(
        {"--native", half, "--managed", half, "--depth", std::to_string(size.depth)}, size.rounds);
    std::map<std::string, std::vector<double>> ways;
    for (auto& [kind, times] : frozen_times(rows)) {
      for (auto& [way, values] : times)
        ways[way].insert(ways[way].end(), values.begin(), values.end());
    }
    const double floor = median(ways[kFloor]);
    std::printf("  %7d %7.0f %8.1f", size.threads, depth_of(rows, "native"), floor);
    for (const char* way : {kSeeded, kSnapshotNever, kSnapshotRisk, kCopy}) {
      std::printf(" %10.1f (%5.2f)", median(ways[way]), median(ways[way]) / floor);
    }
    std::vector<double> together;
    bool all_copied = true;
    for (const auto& row : rows["together"]) {
      together.push_back(us(row[2]));
      all_copied = all_copied && row[0] == row[1];
    }
    const double of_floors = median(together) / (size.threads * floor);
    std::printf(" %16.1f (%5.2f)%s\n", median(together), of_floors,
                all_copied ? "" : ", not all of one moment");
    if (size.threads == 200) show_target("at once / (200 x floor)", of_floors, kAtOnceOverFloors);
  }
}

}  // namespace mixwalk::bench
