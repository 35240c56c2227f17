#pragma once

#include <cstdint>

namespace mixwalk {

// The source of a name of native code.
enum class SymbolKind : std::uint8_t {
  none,            // no name is known, or its origin is not recorded (older recordings)
  function_table,  // .pdata gives the function's start, and nothing gives its name: "sub_1a2b0"
  exported,        // the export table of the image
  coff,            // the image's COFF symbols
  dwarf,
  pdb,
  import,  // no symbol names the function, but the import by which it is called does
};

}  // namespace mixwalk
