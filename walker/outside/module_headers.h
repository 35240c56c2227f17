#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Of the image that is loaded at `base`: base, size and timestamp, as its headers say; no path. Nothing: no x64
// image stands there, or it cannot be read.
std::optional<Module> read_module_headers(const MemoryReader& memory, std::uint64_t base);

// Sorts by base; of modules that overlap, the lowest stays.
void sort_disjoint(std::vector<Module>& modules);

}  // namespace mixwalk
