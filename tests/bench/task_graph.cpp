#include <windows.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/program.h"
#include "tests/bench/table.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/scoped_environment.h"

namespace mixwalk::bench {
namespace {

using Json = nlohmann::json;

// From the issue: what the task graph adds to a dump, and what a heap with a million tasks may cost.
constexpr double kOfDump = 1.2, kHeapMs = 1000, kHeapMiB = 200;

struct Look {
  std::string name;
  std::vector<std::string> command;
  std::vector<double> ms = {}, frozen_ms = {};
};

// The longest time that a thread was frozen.
double longest_freeze(const Json& dump) {
  double ns = 0;
  for (const Json& thread : dump.at("threads")) ns = std::max(ns, thread.value("frozen_ns", 0.0));
  return ns / 1e6;
}

// MIXWALK_BENCH_BEFORE is the path of an earlier mixwalk.exe, without the task graph. The same program under load is
// dumped in turn by both.
void show_load(bool quick) {
  ChildProcess kestrel({fixture("..\\fixtures-kestrel\\kestrel.exe"), "--clients", "64", "--seconds", "3000"});
  if (!kestrel.read_line().value_or("").starts_with("READY")) throw std::runtime_error("kestrel.exe did not start");
  const std::string id = std::to_string(kestrel.id());
  const auto look = [&](const std::string& exe, const std::string& way) {
    return std::vector<std::string>{exe, "dump", way, "-p", id, "-f", "json"};  // options that earlier ones have, too
  };
  std::vector<Look> looks = {{"dump --outside", look(mixwalk_exe(), "--outside")},
                             {"dump --inside", look(mixwalk_exe(), "--inside")}};
  const char* const before = std::getenv("MIXWALK_BENCH_BEFORE");
  if (before != nullptr) {
    looks.push_back({"dump --outside, before", look(before, "--outside")});
    looks.push_back({"dump --inside, before", look(before, "--inside")});
  }
  const int rounds = quick ? 1 : 21;
  for (int round = quick ? 1 : 0; round <= rounds; ++round) {
    for (Look& one : looks) {
      const MeasuredRun run = measured_run(one.command);
      if (round == 0) continue;  // the files of each program come into the system's cache
      one.ms.push_back(run.ms);
      one.frozen_ms.push_back(longest_freeze(Json::parse(run.out)));
    }
  }
  std::printf("\nKestrel with 64 clients, %d rounds in turn, medians\n", rounds);
  for (const Look& one : looks) {
    std::printf("  %-26s %6.0f ms; the longest freeze of a thread %.2f ms\n", one.name.c_str(), median(one.ms),
                median(one.frozen_ms));
  }
  if (before == nullptr) {
    std::printf("  MIXWALK_BENCH_BEFORE is not set, so there is nothing to compare with\n");
    return;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    show_target(looks[i].name + " / before", median_ratio(looks[i].ms, looks[i + 2].ms), kOfDump);
    show_target("its longest freeze / before", median_ratio(looks[i].frozen_ms, looks[i + 2].frozen_ms), kOfDump);
  }
}

// Tasks on the heap of a dump file: what --async costs more than a dump without it.
void show_heap(bool quick) {
  const std::string path = temporary_file("bench-tasks.dmp");
  const int tasks = quick ? 1000 : 1'000'000;
  {
    const Program program({"--tasks", std::to_string(tasks)});
    measured_run({mixwalk_exe(), "dump", "-p", std::to_string(program.id()), "-o", path});
  }
  std::vector<double> with, without, memory;
  std::string last;
  const int rounds = quick ? 1 : 7;
  for (int round = quick ? 1 : 0; round <= rounds; ++round) {
    const MeasuredRun all = measured_run({mixwalk_exe(), "dump", path, "--symbols", "offline", "--async"});
    const MeasuredRun plain = measured_run({mixwalk_exe(), "dump", path, "--symbols", "offline"});
    if (round == 0) continue;
    with.push_back(all.ms);
    without.push_back(plain.ms);
    memory.push_back(all.memory_mib);
    last = all.out;
  }
  DeleteFileA(path.c_str());
  std::vector<double> added;
  for (std::size_t i = 0; i < with.size(); ++i) added.push_back(with[i] - without[i]);
  std::printf("\nA dump file of a program with %d async methods that wait, %d rounds in turn, medians\n", tasks,
              rounds);
  std::printf("  dump FILE --async  %6.0f ms\n  dump FILE          %6.0f ms\n", median(with), median(without));
  const std::size_t cut = last.find("tasks may be missing: ");
  if (cut != std::string::npos) std::printf("  %s\n", last.substr(cut, last.find_first_of("\r\n", cut) - cut).c_str());
  show_target("what --async adds", median(added), kHeapMs, " ms");
  show_target("memory of mixwalk.exe", median(memory), kHeapMiB, " MiB");
}

}  // namespace

// What the graph of tasks adds to a dump of a service under load, and what a heap with many tasks costs.
void show_task_graph(const Options& options) {
  show_load(options.quick);
  show_heap(options.quick);
}

}  // namespace mixwalk::bench
