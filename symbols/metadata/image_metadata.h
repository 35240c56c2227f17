#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "symbols/metadata/metadata_tables.h"
#include "unmanaged/image/debug_directory.h"
#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// The metadata of the assembly whose image is at `base`, 32-bit or 64-bit. The image may be laid out as the system
// loads it, or as its file is: the runtime loads assemblies without native code, and those of a single-file program, in
// the second way. Returns nothing if there is no assembly, or if its headers cannot be read. Not frozen-safe. `memory`
// must outlive the result.
std::optional<MetadataTables> metadata_of_image(const MemoryReader& memory, std::uint64_t base);

// Which portable PDB belongs to an image.
struct PortablePdbId {
  CodeViewId id;
  std::vector<PdbChecksum> checksums;
};
// Returns the portable PDB of such an image, by its debug directory; nothing if the image names none.
std::optional<PortablePdbId> portable_pdb_of_image(const MemoryReader& memory, std::uint64_t base);

// The metadata that begins at `address`.
std::optional<MetadataTables> metadata_at(const MemoryReader& memory, std::uint64_t address, std::uint64_t bytes);

}  // namespace mixwalk
