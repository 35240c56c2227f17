#include <windows.h>

#include <cstdio>
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
// for it nor checks its signature. The file is in the system's cache, because the first run of each program is not
// counted.
void show_dump_files(const Options& options) {
  const std::string path = temporary_file("bench.dmp");
  {
    ChildProcess hang({fixture("hang.exe")});
    if (!hang.read_line().value_or("").starts_with("READY")) throw std::runtime_error("hang.exe did not start");
    measured_run({mixwalk_exe(), "dump", "-p", std::to_string(hang.id()), "-o", path});
  }
  const double mib = static_cast<double>(std::filesystem::file_size(utf8_path(path))) / (1 << 20);
  std::vector<double> ours, starts, theirs, ratios, memory;
  std::size_t threads = 0, frames = 0;
  const int rounds = options.quick ? 1 : 11;
  for (int round = 0; round <= rounds; ++round) {
    const std::string library = fixture("mscordaccore.dll");
    const MeasuredRun own = measured_run({mixwalk_exe(), "dump", path, "-f", "json", "--dac", library});
    const MeasuredRun start = measured_run({mixwalk_exe(), "--version"});
    const ScopedEnvironment environment(dynamic_methods_may_end());
    const MeasuredRun oracle = measured_run({fixture("clrmd_oracle.exe"), path, library});
    if (round == 0) {
      const Json dump = Json::parse(own.out);
      threads = dump.at("threads").size();
      frames = frames_of(dump);
      continue;
    }
    const Json times = Json::parse(oracle.out.substr(oracle.out.rfind('{')));
    ours.push_back(own.ms);
    starts.push_back(start.ms);
    theirs.push_back(times.at("opened_ms").get<double>() + times.at("walked_ms").get<double>());
    ratios.push_back((own.ms - start.ms) / theirs.back());
    memory.push_back(own.memory_mib);
  }
  DeleteFileA(path.c_str());
  std::printf("\nA dump file of %.0f MiB, %zu threads, %zu frames, %d rounds, medians\n", mib, threads, frames, rounds);
  std::printf("  mixwalk dump FILE --dac …    %6.0f ms, all of it; %.0f MiB of memory at its most\n", median(ours),
              median(memory));
  std::printf("  mixwalk --version            %6.0f ms\n", median(starts));
  std::printf("  ClrMD, managed frames alone  %6.0f ms, without its program's start\n", median(theirs));
  show_target("mixwalk without its start / ClrMD, of each round", median(ratios), kOfClrMd);
  show_target("memory of mixwalk.exe", median(memory), kMemoryMiB, " MiB");
}

}  // namespace mixwalk::bench
