#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mixwalk {

struct Symbol {
  std::string name;       // bare: no module, no displacement
  std::uint32_t rva = 0;  // where the symbol starts, at or before the address asked for
};

// Names the code of one image: exports, DWARF, PDB. Not frozen-safe.
class SymbolSource {
 public:
  virtual ~SymbolSource() = default;
  // Nothing where this source does not know the function: a wrong name is worse than none.
  // `rva`: inside the instruction (CodeAddress::lookup()).
  virtual std::optional<Symbol> find(std::uint32_t rva) const = 0;
};

}  // namespace mixwalk
