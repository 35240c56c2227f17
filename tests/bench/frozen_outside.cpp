#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/program.h"
#include "tests/bench/table.h"
#include "tests/support/win/child_process.h"

namespace mixwalk::bench {
namespace {

// The limit for the ratio of the same round: the source of the answers must not make a thread stand longer.
constexpr double kOfLibrary = 1.1;

// What one source of answers about the runtime costs the threads. An entry for each round, in microseconds.
struct Source {
  const char *option, *name;                     // for --runtime-data; in JSON
  std::vector<double> usual = {}, longest = {};  // of a dump's threads
};

std::vector<double> frozen_us(const ProgramResult& run, const char* source) {
  const nlohmann::json dump = nlohmann::json::parse(run.out, nullptr, false);
  if (dump.is_discarded() || dump.at("runtime").at("source") != source) {
    throw std::runtime_error(fmt::format("{} did not answer: {}", source, run.err));
  }
  std::vector<double> us;
  for (const auto& thread : dump.at("threads")) {
    if (const double ns = thread.at("frozen_ns"); ns > 0) us.push_back(ns / 1e3);
  }
  if (us.empty()) throw std::runtime_error(fmt::format("{}: no thread was frozen", source));
  return us;
}

}  // namespace

// How long threads are frozen by a look from outside whose questions the runtime's data contracts answer, and the
// debugging library, in turn.
void show_frozen_outside(const Options& options) {
  const Program program({"--native", "8", "--managed", "8", "--work", "2", "--depth", "20"});
  Source contracts{"contracts", "contracts"}, library{"dac", "debugging-library"};
  const int rounds = options.quick ? 1 : 20;
  for (int round = 0; round < rounds; ++round) {
    for (Source* source : {&contracts, &library}) {
      const ProgramResult run = run_program({mixwalk_exe(), "dump", "--outside", "--no-locks", "--symbols", "offline",
                                             "-p", std::to_string(program.id()), "--runtime-data", source->option, "-f",
                                             "json"});
      const std::vector<double> us = frozen_us(run, source->name);
      source->usual.push_back(median(us));
      source->longest.push_back(*std::ranges::max_element(us));
    }
  }
  std::printf("\nHow long threads are frozen from outside, %d rounds in turn\n", rounds);
  for (const Source* source : {&contracts, &library}) {
    std::printf("  --runtime-data %-10s median of a dump's threads %6.0f us, of its longest %6.0f us\n", source->option,
                median(source->usual), median(source->longest));
  }
  show_target("frozen, contracts / dac", median_ratio(contracts.usual, library.usual), kOfLibrary);
}

}  // namespace mixwalk::bench
