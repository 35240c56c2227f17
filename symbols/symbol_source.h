#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "symbols/symbol_kind.h"

namespace mixwalk {

// One function of the chain at an address.
struct SymbolFrame {
  std::string name;        // bare: no module, no displacement
  std::string file;        // of the source; empty if unknown
  std::uint32_t line = 0;  // in that file; 0 if unknown
  std::string url = {};    // from which the file can be read; empty if the symbols do not say it

  bool operator==(const SymbolFrame&) const = default;
};

// The function at an address, with the calls inlined there, as one source of symbols gives them.
struct Symbol {
  SymbolKind kind = SymbolKind::none;
  std::uint32_t rva = 0;  // where the function begins, at or before the address asked for
  // Innermost first: the last one is the function, and each one before it is inlined into the next. Not empty.
  std::vector<SymbolFrame> frames;
  std::uint32_t folded = 1;  // number of functions that the linker folded, since their code is equal
  // The function is managed code that NativeAOT compiled; its name is in the form of clr_name.h, and `kind` is none.
  bool managed = false;

  static Symbol named(SymbolKind kind, std::string name, std::uint32_t rva) {
    return {kind, rva, {{std::move(name)}}};
  }
  // The name of the function itself.
  const std::string& name() const noexcept { return frames.back().name; }
};

// Names the code of one image: exports, DWARF, PDB. Not frozen-safe.
class SymbolSource {
 public:
  virtual ~SymbolSource() = default;
  // Returns nothing if this source does not know the function, because a wrong name is worse than no name. `rva` lies
  // inside the instruction (CodeAddress::lookup()).
  virtual std::optional<Symbol> find(std::uint32_t rva) const = 0;
  // The memory in use, without the image's file, as far as the source can count it.
  virtual std::size_t bytes() const noexcept { return 0; }
};

}  // namespace mixwalk
