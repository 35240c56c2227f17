#pragma once

#include <cstdint>
#include <vector>

#include "tests/builders/code_builder.h"
#include "unmanaged/step/pdata.h"
#include "walker/clr/clr_questions.h"

namespace mixwalk::test {

// Puts a method that the runtime compiled into an artificial code heap, in the layout of .NET 8 to 10: the real header
// at `header`, and the pointer to the header right before the code.
struct JittedBuilder {
  std::uint32_t header = 0x100;  // offsets in the memory
  std::uint32_t code = 0x1008;
  std::uint32_t bytes = 0x100;
  std::uint32_t words_before = 3;  // words before the MethodDesc, for example the pointer to the GC information
  std::uint64_t method = 0x7FFE'0000'1000;
  std::uint64_t gc_info = 0x7FFE'0000'2000;
  std::vector<FunctionEntry> entries;  // from the heap's start
  std::uint32_t reserved = 0;          // zero entries behind the others

  ClrCode put(BuiltMemory& heap) const {
    heap.put64(code - 8, heap.base() + header);
    for (std::uint32_t i = 0; i < words_before; ++i) heap.put64(header + 8 * i, 0x7FFE'0000'9000 + i);
    heap.put64(header + 8 * (words_before - 1), gc_info);
    heap.put64(header + 8 * words_before, method);
    const std::uint32_t table = header + 8 * words_before + 8;
    heap.put32(table, static_cast<std::uint32_t>(entries.size()) + reserved);
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      heap.put_entry(table + 4 + 12 * i, entries[i].begin, entries[i].end, entries[i].unwind);
    }
    for (std::uint32_t i = 0; i < reserved; ++i) {
      heap.put_entry(table + 4 + 12 * (static_cast<std::uint32_t>(entries.size()) + i), 0, 0, 0);
    }
    return {.method = method, .start = heap.base() + code, .hot_bytes = bytes, .gc_info = gc_info, .jitted = true};
  }
};

}  // namespace mixwalk::test
