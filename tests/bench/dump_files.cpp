#include <windows.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/bench/program.h"
#include "tests/bench/table.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/scoped_environment.h"

namespace mixwalk::bench {
namespace {

using Json = nlohmann::json;

constexpr double kOfClrMd = 1.5;      // from the issue
constexpr double kOfBefore = 0.35;
constexpr double kMemoryMiB = 200;

std::size_t frames_of(const Json& dump) {
  std::size_t frames = 0;
  for (const Json& thread : dump.at("threads")) frames += thread.at("frames").size();
  return frames;
}

}  // namespace

// Measures the time that mixwalk needs for all stacks of a dump file, native and managed, with names and locks, and the
// time that ClrMD, Microsoft's library for dumps, needs for the managed frames alone. ClrMD's time begins in its
// program's Main. From mixwalk's time, the time of `mixwalk --version` in the same round is subtracted, so that neither
// time includes the start of the program. Both programs are told where the debugging library is, so that neither looks
// for it nor checks its signature. The same is measured with the data contracts in place of the library, and by an
// earlier mixwalk.exe, which looks for the library as it does for a person; MIXWALK_BENCH_BEFORE is its path. The file
// is in the system's cache, because the first run of each program is not counted.
void show_dump_files(const Options& options) {
  const std::string path = temporary_file("bench.dmp");
  {
    ChildProcess hang({fixture("hang.exe")});
    if (!hang.read_line().value_or("").starts_with("READY")) throw std::runtime_error("hang.exe did not start");
    measured_run({mixwalk_exe(), "dump", "-p", std::to_string(hang.id()), "-o", path});
  }
  const double mib = static_cast<double>(std::filesystem::file_size(utf8_path(path))) / (1 << 20);
  std::vector<double> ours, starts, theirs, ratios, memory, by_contracts, of_library, by_before, of_before;
  std::size_t threads = 0, frames = 0;
  const char* const before = std::getenv("MIXWALK_BENCH_BEFORE");
  const int rounds = options.quick ? 1 : 11;
  // The first round brings the files into the system's cache.
  for (int round = options.quick ? 1 : 0; round <= rounds; ++round) {
    const std::string library = fixture("mscordaccore.dll");
    const MeasuredRun own = measured_run({mixwalk_exe(), "dump", path, "-f", "json", "--dac", library});
    const MeasuredRun contracts =
        measured_run({mixwalk_exe(), "dump", path, "-f", "json", "--runtime-data", "contracts"});
    const MeasuredRun earlier =
        before != nullptr ? measured_run({before, "dump", path, "-f", "json"}) : MeasuredRun();
    const MeasuredRun start = measured_run({mixwalk_exe(), "--version"});
    const ScopedEnvironment environment(dynamic_methods_may_end());
    const MeasuredRun oracle = measured_run({fixture("clrmd_oracle.exe"), path, library});
    if (threads == 0) {
      const Json dump = Json::parse(own.out);
      threads = dump.at("threads").size();
      frames = frames_of(dump);
    }
    if (round == 0) continue;
    const Json times = Json::parse(oracle.out.substr(oracle.out.rfind('{')));
    ours.push_back(own.ms);
    starts.push_back(start.ms);
    theirs.push_back(times.at("opened_ms").get<double>() + times.at("walked_ms").get<double>());
    ratios.push_back((own.ms - start.ms) / theirs.back());
    memory.push_back(own.memory_mib);
    by_contracts.push_back(contracts.ms);
    of_library.push_back((contracts.ms - start.ms) / (own.ms - start.ms));
    by_before.push_back(earlier.ms);
    of_before.push_back((contracts.ms - start.ms) / (earlier.ms - start.ms));
  }
  DeleteFileA(path.c_str());
  std::printf("\nA dump file of %.0f MiB, %zu threads, %zu frames, %d rounds, medians\n", mib, threads, frames, rounds);
  std::printf("  mixwalk dump FILE --dac …    %6.0f ms, all of it; %.0f MiB of memory at its most\n", median(ours),
              median(memory));
  std::printf("  mixwalk dump FILE            %6.0f ms, all of it, by the data contracts\n", median(by_contracts));
  std::printf("  mixwalk --version            %6.0f ms\n", median(starts));
  std::printf("  ClrMD, managed frames alone  %6.0f ms, without its program's start\n", median(theirs));
  show_target("mixwalk without its start / ClrMD, of each round", median(ratios), kOfClrMd);
  std::printf("  contracts / debugging library, without the start: %.2f\n", median(of_library));
  if (before != nullptr) {
    std::printf("  earlier mixwalk dump FILE    %6.0f ms\n", median(by_before));
    show_target("contracts / earlier mixwalk, without the start", median(of_before), kOfBefore);
  } else {
    std::printf("  MIXWALK_BENCH_BEFORE is not set, so there is no earlier mixwalk to compare with\n");
  }
  show_target("memory of mixwalk.exe", median(memory), kMemoryMiB, " MiB");
}

}  // namespace mixwalk::bench
