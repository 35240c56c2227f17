#include "tests/builders/assembly_builder.h"

#include "tests/builders/byte_writer.h"
#include "tests/builders/image_builder.h"
#include "unmanaged/image/debug_directory.h"

namespace mixwalk::test {
namespace {

constexpr std::size_t kCliDirectoryAt = ImageBuilder::kDirectoriesAt + 14 * 8;
constexpr std::uint32_t kCliBytes = 72, kRoot = kCliHeaderAt + kCliBytes;
constexpr std::uint8_t kWideStrings = 1, kWideGuids = 2;

std::vector<std::uint8_t> numbers(const std::vector<std::byte>& bytes) {
  std::vector<std::uint8_t> out;
  for (const std::byte byte : bytes) out.push_back(static_cast<std::uint8_t>(byte));
  return out;
}

ByteWriter module_row(const AssemblyShape& shape) {
  ByteWriter row;
  const auto guid = [&](std::uint32_t index) {
    (shape.heap_sizes & kWideGuids) != 0 ? row.u32(index) : row.u16(index);
  };
  row.u16(0);  // generation
  (shape.heap_sizes & kWideStrings) != 0 ? row.u32(0) : row.u16(0);
  guid(shape.mvid_index);
  guid(0);
  guid(0);
  return row;
}

std::vector<std::byte> metadata(const AssemblyShape& shape) {
  ByteWriter tables;
  tables.u32(0).u8(2).u8(0).u8(shape.heap_sizes).u8(1).u64(shape.tables).u64(0);
  for (unsigned table = 0; table < 64; ++table) {
    if ((shape.tables >> table & 1) != 0) tables.u32(table == 0 ? shape.modules : 1);
  }
  tables.append(module_row(shape).bytes()).align(4);
  ByteWriter guids;
  for (int i = 0; i < 16; ++i) guids.u8(0xEE);
  for (int i = 0; i < 16; ++i) guids.u8(shape.mvid);
  ByteWriter root;
  const std::uint32_t header = 16 + 4 + 4 + (8 + 4) + (8 + 8);
  root.u32(0x424A5342).u16(1).u16(1).u32(0).u32(4).u32(0).u16(0).u16(2);
  root.u32(header).u32(tables.size()).u8('#').u8('~').u8(0).u8(0);
  root.u32(header + tables.size()).u32(guids.size()).text("#GUID").align(4);
  return root.append(tables.bytes()).append(guids.bytes()).bytes();
}

}  // namespace

std::vector<std::byte> assembly_file(const AssemblyShape& shape) {
  const auto root = metadata(shape);
  ByteWriter cli;
  cli.u32(kCliBytes).u16(2).u16(5).u32(kRoot).u32(root.size());
  ImageBuilder image;
  image.code_view(7, 1, "app.pdb", true)
      .put_code(kCliHeaderAt, numbers(cli.bytes()))
      .put_code(kRoot, numbers(root));
  if (!shape.pdb_checksum.empty()) image.debug_entry(DebugEntry::kPdbChecksum, 0, shape.pdb_checksum);
  auto file = image.build();
  ImageBuilder::put32(file, kCliDirectoryAt, kCliHeaderAt);
  ImageBuilder::put32(file, kCliDirectoryAt + 4, kCliBytes);
  return file;
}

}  // namespace mixwalk::test
