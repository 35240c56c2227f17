#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "walker/base/failure.h"
#include "walker/clr/contracts/descriptor.h"

namespace mixwalk {

// The descriptor of the runtime that is loaded at `runtime_base`, together with the data that the descriptor lacks but
// that is known for its versions (.NET 9 and 10). A failure says in one line why the runtime's data cannot be read: it
// has no descriptor (before .NET 9), or it has a version of a contract that is not known here. `file`: returns the file
// of the runtime's image, or nothing; it is called if the memory lacks the descriptor, as that of a small dump does.
// May be null. Not frozen-safe.
//
// The two descriptors no longer change: 9.0 and 10.0 get fixes only. What to do for a new runtime: docs/contracts.md.
Outcome<ContractDescriptor> known_contracts(const MemoryReader& memory, std::uint64_t runtime_base,
                                            const std::function<std::vector<std::byte>()>& file = nullptr);

// Adds to a descriptor of a known runtime the data that it lacks. Returns an empty text, or why this is no known
// runtime. `dac_table`: the address of the runtime's export g_dacTable; 0 if there is none.
std::string complete(ContractDescriptor& descriptor, const MemoryReader& memory, std::uint64_t dac_table);

}  // namespace mixwalk
