#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/program.h"
#include "tests/bench/table.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"

namespace mixwalk::bench {
namespace {

// The limits for ratios of the same round, from the issue.
constexpr double kOfTool = 0.75, kOutsideOfTool = 1.0;

struct Way {
  const char* name;
  std::vector<std::string> command;
  std::vector<double> ms = {};
};

void compare(const std::string& tool_program, int threads, int rounds) {
  const std::string half = std::to_string(threads / 2);
  const Program program({"--native", half, "--managed", half, "--depth", "20"});
  const std::string id = std::to_string(program.id());
  Way ways[] = {{"dump -p, with locks", {mixwalk_exe(), "dump", "--symbols", "offline", "-p", id}},
                {"dump --outside -p, with locks",
                 {mixwalk_exe(), "dump", "--symbols", "offline", "--outside", "-p", id}},
                {"dump --no-locks -p", {mixwalk_exe(), "dump", "--symbols", "offline", "--no-locks", "-p", id}},
                {"dotnet-stack report -p", {tool_program, "report", "-p", id}}};
  const Way& tool = ways[3];
  for (const Way& way : ways) {
    // Not counted: the files of each program come into the system's cache.
    const std::string out = measured_run(way.command).out;
    if (out.find("Bench") == std::string::npos) throw std::runtime_error(std::string(way.name) + " shows no stack");
  }
  for (int round = 0; round < rounds; ++round) {
    for (Way& way : ways) way.ms.push_back(measured_run(way.command).ms);
  }
  std::printf("\nWhat a person waits for, %d threads, %d rounds in turn\n", threads, rounds);
  const auto ratio_to_tool = [&](const Way& way) { return median_ratio(way.ms, tool.ms); };
  for (const Way& way : ways) {
    std::printf("  %-30s median %6.0f ms, %.2f x\n", way.name, median(way.ms), ratio_to_tool(way));
  }
  const std::string of = " / dotnet-stack report, " + std::to_string(threads) + " threads";
  show_target("dump -p" + of, ratio_to_tool(ways[0]), kOfTool);
  show_target("dump --outside" + of, ratio_to_tool(ways[1]), kOutsideOfTool);
}

}  // namespace

// The time from the start of a command until its end, beside that of the tool that a person would use otherwise:
// Microsoft's dotnet-stack, which shows the managed frames of all threads, without locks.
void show_waits(const Options& options) {
  const std::string tool = fixture("..\\dotnet-stack\\dotnet_stack.exe");
  if (options.quick && !std::filesystem::exists(utf8_path(tool))) {
    std::printf("\nwaits: not run, because only tests/bench/run builds dotnet-stack\n");
    return;
  }
  compare(tool, 16, options.quick ? 1 : 11);
  if (!options.quick) compare(tool, 200, 11);
}

}  // namespace mixwalk::bench
