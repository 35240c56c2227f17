#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "symbols/pdb/pdb_error.h"

namespace mixwalk {

// The bytes of a stream, or of a part of one. If the stream's blocks follow each other in the file, this is a view of
// the file, otherwise a copy. Valid as long as this object and the file.
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

// The multi-stream file format of PDBs: a file of blocks, with a directory that lists each stream's blocks.
// (https://llvm.org/docs/PDB/MsfFile.html.) Not frozen-safe. `file` must outlive this object.
//
// In a malicious file, streams may share blocks; together they could then be longer than the file, and reading them
// would take an unreasonable amount of time and memory. Such a file is refused.
class MsfFile {
 public:
  // The largest known PDBs (browsers) have some 100,000 streams; a reference to a stream has 16 bits, so streams beyond
  // this number cannot be referred to.
  static constexpr std::uint32_t kMaxStreams = 65'535;
  // The number that means "no stream" in a reference.
  static constexpr std::uint32_t kNoStream = 0xFFFF;

  static MsfFile parse(std::span<const std::byte> file);

  PdbError error() const noexcept { return error_; }
  // In bytes; 0 for a stream that is missing.
  std::uint32_t stream_bytes(std::uint32_t stream) const noexcept;

  // Returns [offset, offset + bytes) of the stream; the result is empty if the stream is shorter.
  MsfBytes read(std::uint32_t stream, std::uint32_t offset, std::uint32_t bytes) const;
  MsfBytes read(std::uint32_t stream) const { return read(stream, 0, stream_bytes(stream)); }

 private:
  struct Stream {
    std::uint32_t bytes = 0;
    std::uint32_t first_block = 0;  // of blocks_
  };
  PdbError parse_container();
  // Whether each block of each stream lies in the file.
  bool has_all_streams() const noexcept;
  PdbError parse_directory(std::span<const std::byte> directory);
  // Returns the bytes of these blocks, from `offset` on; the result is empty if a block lies beyond the file.
  MsfBytes gather(std::span<const std::uint32_t> blocks, std::uint32_t offset,
                  std::uint32_t bytes) const;

  std::span<const std::byte> file_;
  PdbError error_ = PdbError::not_a_pdb;
  std::uint32_t block_bytes_ = 0;
  std::vector<Stream> streams_;
  std::vector<std::uint32_t> blocks_;  // of all streams
};

}  // namespace mixwalk
