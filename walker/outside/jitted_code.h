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

// The entry of the code's own header that covers `ip`. Returns nothing if no header stands before the code, the header
// is not that of this method, or none of its entries covers the address. Reads a bounded part of the target's memory
// and trusts none of it. Not frozen-safe, since the reader may be any.
//
// Source: the runtime's sources (codeman.h, `CodeHeader`, `RealCodeHeader`), the same in .NET 8, 9 and 10. The word
// before the code points to the real header. That consists of pointers, among them the one to the GC information and,
// as the last one, the one to the MethodDesc; then a u32, the number of RUNTIME_FUNCTIONs; then the RUNTIME_FUNCTIONs.
// The number of pointers before the MethodDesc differs between versions, so the MethodDesc is searched for, and the
// pointer to the GC information must be there as well. The header reserves more entries than it may use: the rest are
// zero. Entry 0 begins where the code begins.
std::optional<JittedFunction> find_jitted_function(const MemoryReader& memory, const ClrCode& code,
                                                   std::uint64_t ip) noexcept;

}  // namespace mixwalk
