#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "symbols/byte_cursor.h"

namespace mixwalk {

// The streams of a metadata root (ECMA-335 II.24.2.1), in a portable PDB or an assembly. Views point into the file. A
// stream that is missing is empty.
struct MetadataStreams {
  std::span<const std::byte> pdb;     // #Pdb
  std::span<const std::byte> tables;  // #~
  std::span<const std::byte> blobs;   // #Blob
  std::span<const std::byte> guids;   // #GUID

  // Returns the bytes of a blob, or nothing if there is no blob at that index. Index 0 is the empty blob.
  std::optional<std::span<const std::byte>> blob(std::uint32_t index) const noexcept;
};

// Returns nothing if the file has no such root. A stream that lies beyond the file counts as missing.
std::optional<MetadataStreams> read_metadata_streams(std::span<const std::byte> file);

// Read a compressed number (II.23.2), unsigned or signed. They fail the cursor if there is no number.
std::uint32_t read_compressed(ByteCursor& cursor) noexcept;
std::int32_t read_compressed_signed(ByteCursor& cursor) noexcept;

}  // namespace mixwalk
