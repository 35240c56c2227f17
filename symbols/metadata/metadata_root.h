#pragma once

#include <cstdint>
#include <optional>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// A stream of a metadata root: where it begins, and how many bytes it has. A stream that is missing has no bytes.
struct MetadataStream {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
};

// The streams of a metadata root (ECMA-335 II.24.2.1), in a portable PDB, an assembly's file, or the memory of a
// program.
struct MetadataStreams {
  MetadataStream pdb;      // #Pdb
  MetadataStream tables;   // #~; or #-, whose rows may be in the wrong order
  MetadataStream strings;  // #Strings
  MetadataStream blobs;    // #Blob
  MetadataStream guids;    // #GUID
};

// Returns nothing if there is no such root at the address, or if it cannot be read. `bytes`: how many bytes the
// metadata has; a stream that lies beyond them counts as missing. Nothing else of the metadata is read.
std::optional<MetadataStreams> read_metadata_root(const MemoryReader& memory, std::uint64_t address,
                                                  std::uint64_t bytes);

}  // namespace mixwalk
