#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "unmanaged/image/coff_file.h"

namespace mixwalk {

// The code of one image by the COFF symbols that its linker left in it: where functions start and what they are called,
// exported or not. gcc writes them, even for code without debug information; strip removes them. They do not say how
// long a function is, so a name is valid only at the very start. Immutable; not frozen-safe to make. Views point into
// the file, which must outlive this object. (Microsoft, "PE Format": "COFF Symbol Table".)
class CoffSymbols {
 public:
  // Symbols. chrome.dll has some 2 million; beyond it the rest is left out.
  static constexpr std::size_t kMaxSymbols = 8'000'000;

  struct Start {
    std::uint32_t rva = 0;
    std::string_view name;  // decorated as it is; never empty
    bool function = false;  // the symbol table says so; else it may be a label inside one
  };

  CoffSymbols() = default;
  explicit CoffSymbols(const CoffFile& file);

  // The function that starts at just that RVA; empty: none is known.
  std::string_view name_at(std::uint32_t rva) const noexcept;
  // The last one that starts at or before the RVA, and is a function; null: none.
  const Start* function_before(std::uint32_t rva) const noexcept;
  // Sorted by RVA, each RVA once. Of several names, one that the symbol table marks as a function comes before any
  // other, then an external name before a static one or a section's (".text$_ZN3FooEv"), then the shortest, then the
  // first in the alphabet.
  std::span<const Start> starts() const noexcept { return starts_; }

 private:
  std::vector<Start> starts_;
};

}  // namespace mixwalk
