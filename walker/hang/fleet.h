#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "walker/hang/findings.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Threads of several processes that do the same: they have the same wait, and the same managed frames and stubs.
// Processes of several machines have nothing else in common.
struct FleetGroup {
  std::vector<std::uint32_t> threads;  // indices into Findings::threads, ascending; not empty
  std::vector<std::uint32_t> counts;   // threads of each process, by DumpInfo::process
  std::uint32_t processes = 0;         // how many have some
  // Only processes in trouble have some, and there are others.
  bool only_in_trouble = false;

  bool operator==(const FleetGroup&) const = default;
};

struct Fleet {
  std::vector<bool> in_trouble;    // by process: it has a finding that explains a hang, in one dump or more
  std::vector<FleetGroup> groups;  // those of only processes in trouble first, then by how many processes they are in

  bool operator==(const Fleet&) const = default;
};

// What dumps of several processes have in common, by the last dump of each. Idle threads are left out. Pure.
Fleet find_fleet(std::span<const Snapshot> dumps, const Findings& findings);

}  // namespace mixwalk
