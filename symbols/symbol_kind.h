#pragma once

#include <cstdint>

namespace mixwalk {

// Where the name of native code comes from.
enum class SymbolKind : std::uint8_t {
  none,            // no name is known, or nobody has said where it comes from (older recordings)
  function_table,  // .pdata says where the function begins, and nothing says its name: "sub_1a2b0"
  exported,        // the export table of the image
  coff,            // the image's COFF symbols
  dwarf,
  pdb,
  import,  // nothing names the function: the import by which it is called does
};

}  // namespace mixwalk
