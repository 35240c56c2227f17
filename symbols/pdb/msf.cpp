#include "symbols/pdb/msf.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "symbols/byte_cursor.h"

namespace mixwalk {
namespace {

constexpr std::string_view kMagic("Microsoft C/C++ MSF 7.00\r\n\x1a" "DS\0\0\0", 32);
constexpr std::string_view kPortableMagic = "BSJB";
constexpr std::string_view kCompressedMagic("Microsoft MSFZ Container\r\n\x1a" "ALD\0\0", 32);
constexpr std::uint32_t kMissing = 0xFFFFFFFF;  // the length of a stream that was deleted
constexpr std::uint32_t kMinBlock = 512, kMaxBlock = 65'536;
constexpr std::size_t kDirectoryMap = 52;  // behind the superblock's fields

bool starts_with(std::span<const std::byte> file, std::string_view magic) noexcept {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

std::uint64_t blocks_for(std::uint64_t bytes, std::uint32_t block_bytes) noexcept {
  return (bytes + block_bytes - 1) / block_bytes;
}

std::vector<std::uint32_t> numbers(std::span<const std::byte> bytes) {
  std::vector<std::uint32_t> list(bytes.size() / 4);
  if (!list.empty()) std::memcpy(list.data(), bytes.data(), list.size() * 4);
  return list;
}

}  // namespace

MsfFile MsfFile::parse(std::span<const std::byte> file) {
  MsfFile parsed;
  parsed.file_ = file;
  parsed.error_ = parsed.parse_container();
  if (parsed.error_ != PdbError::none) parsed.streams_.clear();
  return parsed;
}

PdbError MsfFile::parse_container() {
  if (starts_with(file_, kPortableMagic)) return PdbError::portable;
  if (starts_with(file_, kCompressedMagic)) return PdbError::compressed;
  if (!starts_with(file_, kMagic)) return PdbError::not_a_pdb;
  ByteCursor superblock(file_);
  superblock.skip(kMagic.size());
  block_bytes_ = superblock.u32();
  superblock.skip(4);  // the map of free blocks
  const std::uint64_t block_count = superblock.u32();
  const std::uint32_t directory_bytes = superblock.u32();
  superblock.skip(4);
  if (superblock.failed() || block_bytes_ < kMinBlock || block_bytes_ > kMaxBlock ||
      (block_bytes_ & (block_bytes_ - 1)) != 0 || directory_bytes > file_.size()) {
    return PdbError::damaged_container;
  }
  // The directory's blocks are listed in blocks of their own, and the numbers of these blocks are at the superblock's
  // end.
  const std::uint64_t directory_blocks = blocks_for(directory_bytes, block_bytes_);
  const std::uint64_t map_blocks = blocks_for(directory_blocks * 4, block_bytes_);
  if (map_blocks > (block_bytes_ - kDirectoryMap) / 4) return PdbError::damaged_container;
  const std::vector<std::uint32_t> map = numbers(superblock.take(map_blocks * 4));
  if (superblock.failed()) return PdbError::damaged_container;
  const MsfBytes map_bytes = gather(map, 0, static_cast<std::uint32_t>(directory_blocks * 4));
  const MsfBytes directory = gather(numbers(map_bytes.get()), 0, directory_bytes);
  if (directory.get().size() != directory_bytes) return PdbError::damaged_container;
  if (const PdbError error = parse_directory(directory.get()); error != PdbError::none) return error;
  // Folklore: some linkers count more blocks than they write (radlink counts some at the end that it never needs). Such
  // a file is whole if each stream is. (Test: MsfDamageTest.MoreBlocksCountedThanTheFileHas.)
  const bool is_short = block_count * block_bytes_ > file_.size();
  return is_short && !has_all_streams() ? PdbError::damaged_container : PdbError::none;
}

// Reads the number of streams, the length of each, and the blocks of each.
PdbError MsfFile::parse_directory(std::span<const std::byte> directory) {
  ByteCursor cursor(directory);
  const std::uint32_t count = cursor.u32();
  if (cursor.failed() || count > kMaxStreams || count > cursor.left() / 4) {
    return PdbError::damaged_container;
  }
  std::uint64_t all_blocks = 0;
  streams_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t length = cursor.u32();
    const std::uint32_t bytes = length == kMissing ? 0 : length;
    streams_.push_back({bytes, static_cast<std::uint32_t>(all_blocks)});
    all_blocks += blocks_for(bytes, block_bytes_);
    if (all_blocks > blocks_for(file_.size(), block_bytes_)) return PdbError::shared_blocks;
  }
  if (all_blocks > cursor.left() / 4) return PdbError::damaged_container;
  blocks_ = numbers(cursor.take(all_blocks * 4));
  return PdbError::none;
}

bool MsfFile::has_all_streams() const noexcept {
  for (const Stream& stream : streams_) {
    for (std::uint64_t at = 0; at < stream.bytes; at += block_bytes_) {
      const std::uint64_t begin = std::uint64_t{blocks_[stream.first_block + at / block_bytes_]} * block_bytes_;
      if (begin + std::min<std::uint64_t>(block_bytes_, stream.bytes - at) > file_.size()) return false;
    }
  }
  return true;
}

std::uint32_t MsfFile::stream_bytes(std::uint32_t stream) const noexcept {
  return stream < streams_.size() ? streams_[stream].bytes : 0;
}

MsfBytes MsfFile::read(std::uint32_t stream, std::uint32_t offset, std::uint32_t bytes) const {
  const std::uint32_t length = stream_bytes(stream);
  if (bytes == 0 || offset > length || bytes > length - offset) return {};
  const std::uint32_t first = offset / block_bytes_;
  const std::uint64_t end = blocks_for(std::uint64_t{offset} + bytes, block_bytes_);
  return gather(std::span(blocks_).subspan(streams_[stream].first_block + first, end - first),
                offset % block_bytes_, bytes);
}

MsfBytes MsfFile::gather(std::span<const std::uint32_t> blocks, std::uint32_t offset,
                         std::uint32_t bytes) const {
  if (blocks.empty() || bytes == 0) return {};
  bool in_a_row = true;
  for (std::size_t i = 1; i < blocks.size() && in_a_row; ++i) {
    in_a_row = blocks[i] == std::uint64_t{blocks[0]} + i;
  }
  if (in_a_row) {
    const std::uint64_t begin = std::uint64_t{blocks[0]} * block_bytes_ + offset;
    if (begin > file_.size() || bytes > file_.size() - begin) return {};
    return MsfBytes(file_.subspan(begin, bytes));
  }
  std::vector<std::byte> copy;
  copy.reserve(bytes);
  for (const std::uint32_t block : blocks) {
    const std::uint64_t begin = std::uint64_t{block} * block_bytes_ + offset;
    const std::uint64_t step = std::min<std::uint64_t>(block_bytes_ - offset, bytes - copy.size());
    if (begin > file_.size() || step > file_.size() - begin) return {};
    const auto part = file_.subspan(begin, step);
    copy.insert(copy.end(), part.begin(), part.end());
    offset = 0;
  }
  if (copy.size() != bytes) return {};
  return MsfBytes(std::move(copy));
}

}  // namespace mixwalk
