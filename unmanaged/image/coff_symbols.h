#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "unmanaged/image/coff_file.h"

namespace mixwalk {

// Knows where the functions of one image start and what they are called, exported or not, from the COFF symbols that
// the linker left in the image. gcc writes these symbols even for code without debug information; strip removes them.
// They do not say how long a function is, so a name is valid only at the function's first byte. Immutable; making it is
// not frozen-safe. Views point into the file, which must outlive this object. (Microsoft, "PE Format": "COFF Symbol
// Table".)
class CoffSymbols {
 public:
  // The maximum number of symbols; any further symbols are left out. chrome.dll has some 2 million.
  static constexpr std::size_t kMaxSymbols = 8'000'000;

  struct Start {
    std::uint32_t rva = 0;
    std::string_view name;  // decorated, as the symbol table has it; never empty
    bool function = false;  // the symbol table marks it as a function; otherwise it may be a label inside a function
  };

  CoffSymbols() = default;
  explicit CoffSymbols(const CoffFile& file);

  // Returns the name of the symbol that starts exactly at that RVA; the result is empty if none is known.
  std::string_view name_at(std::uint32_t rva) const noexcept;
  // Returns the last function that starts at or before the RVA, or null if there is none.
  const Start* function_before(std::uint32_t rva) const noexcept;
  // Sorted by RVA, with one name for each RVA. If an RVA has several names, one that the symbol table marks as a
  // function comes before any other name, then an external name before a static one or a section's (".text$_ZN3FooEv"),
  // then the shortest name, then the first in the alphabet.
  std::span<const Start> starts() const noexcept { return starts_; }

 private:
  std::vector<Start> starts_;
};

}  // namespace mixwalk
