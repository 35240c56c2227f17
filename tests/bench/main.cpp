// Measures what mixwalk costs, in one run with its peers and the floor: tests/bench/run.
// usage: mixwalk_bench [--quick] [SECTION…]     frozen scaling symbols phases throughput
//                                          dump-files written-dumps waits tasks frozen-outside

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "tests/bench/program.h"
#include "tests/bench/table.h"

int main(int count, char** arguments) {
  using namespace mixwalk::bench;
  const std::pair<const char*, void (*)(const Options&)> sections[] = {
      {"frozen", show_frozen_times},   {"scaling", show_scaling},
      {"symbols", show_symbolising},   {"phases", show_record_phases},
      {"throughput", show_throughput}, {"dump-files", show_dump_files},
      {"written-dumps", show_written_dumps}, {"waits", show_waits},
      {"tasks", show_task_graph},      {"frozen-outside", show_frozen_outside},
  };
  if (count == 3 && std::strcmp(arguments[1], "--hold") == 0) {
    return hold_memory(std::strtoull(arguments[2], nullptr, 10));
  }
  Options options;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "--quick") == 0) {
      options.quick = true;
    } else {
      options.only.emplace_back(arguments[i]);
    }
  }
  for (const std::string& name : options.only) {
    if (std::ranges::any_of(sections, [&](const auto& section) { return section.first == name; })) continue;
    std::fprintf(stderr, "mixwalk_bench: there is no section %s; the sections are", name.c_str());
    for (const auto& section : sections) std::fprintf(stderr, " %s", section.first);
    std::fputs("; names by DWARF and PDB: tests/bench/run names\n", stderr);
    return 2;
  }
  bool whole = true;
  for (const auto& [name, show] : sections) {
    if (!options.wants(name)) continue;
    try {
      show(options);
    } catch (const std::exception& problem) {
      std::printf("\n%s: not measured: %s\n", name, problem.what());
      whole = false;
    }
    std::fflush(stdout);
  }
  std::printf("\n%d targets missed%s\n", misses(), whole ? "" : ", and not all was measured");
  return whole ? 0 : 1;
}
