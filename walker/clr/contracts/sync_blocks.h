#pragma once

#include <cstdint>
#include <span>

#include "walker/clr/clr_questions.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// Sync blocks from the number `first` on, as in ClrQuestions::sync_blocks(). `threads`: those of runtime_threads(). Not
// frozen-safe.
//
// The runtime does not say how many sync blocks there are. So the table is read up to the place after which many
// entries in a row are neither free nor belong to an object whose header names the entry. A sync block, too, must name
// its entry.
ClrSyncBlocks contract_sync_blocks(const RuntimeReader& reader, std::span<const ClrThread> threads,
                                   std::uint32_t first);

}  // namespace mixwalk
