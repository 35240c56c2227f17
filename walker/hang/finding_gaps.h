#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "walker/hang/history.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Adds what filters left out of dumps, as Findings::gaps has it. Pure.
void add_filter_gaps(std::span<const Snapshot> dumps, std::vector<std::string>& gaps);

// Adds what of a process could not be seen, as Findings::gaps has it. `last`: its last dump, the one with that number;
// `threads`: those of the process. Pure.
void add_finding_gaps(const Snapshot& last, std::uint32_t dump, std::span<const ThreadHistory> threads,
                      std::vector<std::string>& gaps);

}  // namespace mixwalk
