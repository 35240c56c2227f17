#pragma once

#include <cstdint>
#include <optional>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/pdata.h"
#include "walker/outside/clr_questions.h"

namespace mixwalk {

// The unwind data of a piece of code that the runtime compiled while the program ran.
struct JittedFunction {
  std::uint64_t image_base = 0;  // what the entry's RVAs count from
  FunctionEntry entry;
};

// The entry that covers `ip` in the code's own header. Nothing: no header stands before the code, it is not
// that of this method, or no entry of it covers the address. Reads a bounded part of the target's memory and
// trusts none of it. Not frozen-safe, since the reader may be any.
//
// Source: the runtime's sources (codeman.h, `CodeHeader`, `RealCodeHeader`), the same in .NET 8, 9 and 10. The
// word before the code leads to the real header: pointers, among them those to the GC information and, last,
// to the MethodDesc; then a u32, how many RUNTIME_FUNCTIONs follow, and those. How many pointers stand before
// differs between versions, so the MethodDesc is looked for, and the GC information must be there as well.
// The header reserves more entries than it may use: the rest are zero. Entry 0 begins where the code begins.
std::optional<JittedFunction> find_jitted_function(const MemoryReader& memory, const ClrCode& code,
                                                   std::uint64_t ip) noexcept;

}  // namespace mixwalk
