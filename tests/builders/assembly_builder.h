#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mixwalk::test {

// The content of the metadata of a built assembly. The defaults are those of a real assembly.
struct AssemblyShape {
  std::uint8_t mvid = 9;  // the MVID is the second GUID of its heap: 16 times this byte
  std::uint8_t heap_sizes = 0;
  std::uint64_t tables = 0x5;  // Module and TypeDef, one row each
  std::uint32_t modules = 1;
  std::uint32_t mvid_index = 2;
  std::vector<std::uint8_t> pdb_checksum = {};  // the data of that entry of the debug directory; empty: no entry
};

// Returns a managed image with two tables (ECMA-335 II.24.2). The image names the PDB "app.pdb" of
// sample_portable_pdb().
std::vector<std::byte> assembly_file(const AssemblyShape& shape);

// The RVA of the image's CLI header. The image's code begins with this header; the metadata follows.
inline constexpr std::uint32_t kCliHeaderAt = 0x1000;

}  // namespace mixwalk::test
