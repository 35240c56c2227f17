#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "walker/hang/findings.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Threads of several processes that do the same, which means that they have the same wait, and the same managed frames
// and stubs. Processes of several machines have nothing else in common.
struct FleetGroup {
  std::vector<std::uint32_t> threads;  // indices into Findings::threads, ascending; not empty
  std::vector<std::uint32_t> counts;   // how many threads each process has, by DumpInfo::process
  std::uint32_t processes = 0;         // how many processes have such threads
  // Only processes in trouble have such threads, and there are other processes.
  bool only_in_trouble = false;

  bool operator==(const FleetGroup&) const = default;
};

struct Fleet {
  std::vector<bool> in_trouble;    // by process: it has, in at least one dump, a finding that explains a hang
  std::vector<FleetGroup> groups;  // groups of processes in trouble only first, then by their number of processes

  bool operator==(const Fleet&) const = default;
};

// Finds what several processes have in common, from the last dump of each. Idle threads are left out. Pure.
Fleet find_fleet(std::span<const Snapshot> dumps, const Findings& findings);

}  // namespace mixwalk
