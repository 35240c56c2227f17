#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "symbols/byte_cursor.h"

namespace mixwalk {

// The streams of a metadata root (ECMA-335 II.24.2.1), in a portable PDB or an assembly. Views point into the file.
// Empty: the stream is missing.
struct MetadataStreams {
  std::span<const std::byte> pdb;     // #Pdb
  std::span<const std::byte> tables;  // #~
  std::span<const std::byte> blobs;   // #Blob
  std::span<const std::byte> guids;   // #GUID

  // The bytes of a blob; nothing where there is no blob at that index. Index 0 is the empty blob.
  std::optional<std::span<const std::byte>> blob(std::uint32_t index) const noexcept;
};

// Nothing where the file has no such root. A stream that lies beyond the file is a missing one.
std::optional<MetadataStreams> read_metadata_streams(std::span<const std::byte> file);

// A compressed number (II.23.2), unsigned and signed. Fails the cursor where there is no number.
std::uint32_t read_compressed(ByteCursor& cursor) noexcept;
std::int32_t read_compressed_signed(ByteCursor& cursor) noexcept;

}  // namespace mixwalk
