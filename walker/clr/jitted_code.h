#pragma once

#include <cstdint>
#include <optional>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/pdata.h"
#include "walker/clr/clr_questions.h"

namespace mixwalk {

// The unwind data of a piece of code that the runtime compiled while the program ran.
struct JittedFunction {
  std::uint64_t image_base = 0;  // the entry's RVAs are relative to this
  FunctionEntry entry;
};

// The entry of the code's own header that covers `ip`. Returns nothing if no header is before the code, if the header
// is not that of this method, or if none of its entries covers the address. Reads a bounded part of the target's memory
// and trusts none of it. Not frozen-safe, since the reader may be any.
//
// Source: the runtime's sources (codeman.h, `CodeHeader`, `RealCodeHeader`), the same in .NET 8, 9 and 10. The word
// before the code points to the real header. That header begins with pointers. One of them is the pointer to the GC
// information, and the last one is the pointer to the MethodDesc. Then come a u32, the number of RUNTIME_FUNCTIONs, and
// the RUNTIME_FUNCTIONs. The number of pointers before the MethodDesc differs between versions, so the MethodDesc is
// searched for, and the pointer to the GC information must be present as well. The header reserves more entries than it
// may use. Entry 0 begins at the beginning of the code. The used entries come first and cover the whole code. The
// unused ones are zero in the usual code heaps; in those of dynamic methods they are whatever was in that memory
// before. So the entries are read in their order, and not by a binary search.
std::optional<JittedFunction> find_jitted_function(const MemoryReader& memory, const ClrCode& code,
                                                   std::uint64_t ip) noexcept;

}  // namespace mixwalk
