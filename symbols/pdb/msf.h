#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "symbols/pdb/pdb_error.h"

namespace mixwalk {

// The bytes of a stream, or of a part of it. Where the stream's blocks follow each other in the file, they are read
// there, otherwise from a copy. Valid as long as this object and the file.
class MsfBytes {
 public:
  MsfBytes() = default;
  explicit MsfBytes(std::span<const std::byte> in_file) noexcept : view_(in_file) {}
  explicit MsfBytes(std::vector<std::byte> copy) noexcept : copy_(std::move(copy)), view_(copy_) {}
  MsfBytes(MsfBytes&&) noexcept = default;  // a moved vector keeps its bytes where they are
  MsfBytes& operator=(MsfBytes&&) noexcept = default;

  std::span<const std::byte> get() const noexcept { return view_; }

 private:
  std::vector<std::byte> copy_;
  std::span<const std::byte> view_;
};

// The multi-stream file that a PDB is: a file of blocks, with a directory that lists each stream's blocks.
// (https://llvm.org/docs/PDB/MsfFile.html.) Not frozen-safe. `file` must outlive this object.
//
// In a malicious file, streams may share blocks; together they could then be longer than the file, and reading them
// would take an unreasonable amount of time and memory. Such a file is refused.
class MsfFile {
 public:
  // The largest known PDBs (browsers) have some 100,000 streams; a reference to a stream has 16 bits, so streams beyond
  // this number cannot be referred to.
  static constexpr std::uint32_t kMaxStreams = 65'535;
  // A reference to no stream.
  static constexpr std::uint32_t kNoStream = 0xFFFF;

  static MsfFile parse(std::span<const std::byte> file);

  PdbError error() const noexcept { return error_; }
  // Bytes; 0 for a stream that is missing.
  std::uint32_t stream_bytes(std::uint32_t stream) const noexcept;

  // [offset, offset + bytes) of the stream; empty where it has not so much.
  MsfBytes read(std::uint32_t stream, std::uint32_t offset, std::uint32_t bytes) const;
  MsfBytes read(std::uint32_t stream) const { return read(stream, 0, stream_bytes(stream)); }

 private:
  struct Stream {
    std::uint32_t bytes = 0;
    std::uint32_t first_block = 0;  // of blocks_
  };
  PdbError parse_container();
  PdbError parse_directory(std::span<const std::byte> directory);
  // The bytes that these blocks hold, from `offset` on; empty where a block lies beyond the file.
  MsfBytes gather(std::span<const std::uint32_t> blocks, std::uint32_t offset,
                  std::uint32_t bytes) const;

  std::span<const std::byte> file_;
  PdbError error_ = PdbError::not_a_pdb;
  std::uint32_t block_bytes_ = 0;
  std::vector<Stream> streams_;
  std::vector<std::uint32_t> blocks_;  // of all streams
};

}  // namespace mixwalk
