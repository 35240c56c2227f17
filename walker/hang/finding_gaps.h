#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "walker/hang/history.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Adds to Findings::gaps the parts that the dumps lack: by filters, or since the runtime did not answer. Pure.
void add_dump_gaps(std::span<const Snapshot> dumps, std::vector<std::string>& gaps);

// Adds to Findings::gaps the facts about a process that are not known. `last`: the last dump of the process, with the
// index `dump`. `threads`: the threads of the process. Pure.
void add_finding_gaps(const Snapshot& last, std::uint32_t dump, std::span<const ThreadHistory> threads,
                      std::vector<std::string>& gaps);

}  // namespace mixwalk
