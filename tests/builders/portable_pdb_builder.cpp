#include "tests/builders/portable_pdb_builder.h"

#include <cstddef>

#include "tests/builders/image_builder.h"

namespace mixwalk::test {

std::uint32_t PortablePdbBuilder::blob(const std::vector<std::byte>& bytes) {
  const auto at = static_cast<std::uint32_t>(blobs_.size());
  const std::size_t size = bytes.size();
  if (size >= 0x4000) {
    blobs_.u8(0xC0 | size >> 24).u8(size >> 16 & 0xFF).u8(size >> 8 & 0xFF);
  } else if (size >= 0x80) {
    blobs_.u8(0x80 | size >> 8);
  }
  blobs_.u8(size & 0xFF).append(bytes);
  return at;
}

std::uint32_t PortablePdbBuilder::document(char separator, const std::vector<std::string>& parts) {
  ByteWriter name;
  name.u8(static_cast<unsigned char>(separator));
  for (const std::string& part : parts) {
    ByteWriter text;
    for (const char c : part) text.u8(static_cast<unsigned char>(c));
    const std::uint32_t index = part.empty() ? 0 : blob(text.bytes());
    // The index is compressed: one byte, or two with the first bit set.
    if (index < 0x80) {
      name.u8(index);
    } else {
      name.u8(0x80 | index >> 8).u8(index & 0xFF);
    }
  }
  documents_.u16(blob(name.bytes())).u16(0).u16(0).u16(0);
  return ++document_count_;
}

void PortablePdbBuilder::method(std::uint32_t document, std::uint32_t points) {
  methods_.u16(document).u16(points);
  ++method_count_;
}

void PortablePdbBuilder::awaits(std::uint32_t method, const std::vector<std::byte>& value) {
  awaiting_method_ = method;
  awaits_ = blob(value);
}

void PortablePdbBuilder::source_link(const std::string& json) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(json.data());
  source_link_ = blob({bytes, bytes + json.size()});
}

std::vector<std::byte> PortablePdbBuilder::build() const {
  ByteWriter pdb;
  for (int i = 0; i < 16; ++i) pdb.u8(guid);
  pdb.u32(ImageBuilder::kTimestamp).u32(0).u64(0);
  ByteWriter tables;
  const std::uint32_t custom = (source_link_ != 0 ? 1u : 0u) + (awaits_ != 0 ? 1u : 0u);
  const std::uint64_t mask = custom != 0 ? 1ull << 0x37 : 0;
  tables.u32(0).u8(2).u8(0).u8(0).u8(1).u64(3ull << 0x30 | mask).u64(mask);
  tables.u32(document_count_).u32(method_count_);
  if (custom != 0) tables.u32(custom);
  tables.append(documents_.bytes()).append(methods_.bytes());
  // CustomDebugInformation, sorted by the parent: a MethodDef (its tag is 0) with the second GUID and the value; row 1
  // of Module (its tag is 7) with the first GUID.
  if (awaits_ != 0) tables.u16(static_cast<int>(awaiting_method_ << 5)).u16(2).u16(awaits_);
  if (source_link_ != 0) tables.u16(1 << 5 | 7).u16(1).u16(source_link_);
  tables.align(4);
  ByteWriter guids;
  guids.u32(0xCC110556).u16(0xA091).u16(0x4D38).append({0x9F, 0xEC, 0x25, 0xAB, 0x9A, 0x35, 0x1A, 0x6A});
  guids.u32(0x54FD2AC5).u16(0xE925).u16(0x401A).append({0x9C, 0x2A, 0xF9, 0x4F, 0x17, 0x10, 0x72, 0xF8});
  ByteWriter blobs = blobs_;
  blobs.align(4);

  ByteWriter file;
  file.u32(0x424A5342).u16(1).u16(1).u32(0).u32(12).text("PDB v1.0").align(4).u16(0).u16(4);
  constexpr std::uint32_t kHeader = 32 + 8 + 8 + 8 + 4 + 8 + 8 + 8 + 8;
  std::uint32_t offset = kHeader;
  const auto stream = [&](const std::string& name, const ByteWriter& bytes) {
    file.u32(offset).u32(bytes.size()).text(name).align(4);
    offset += static_cast<std::uint32_t>(bytes.size());
  };
  stream("#Pdb", pdb);
  stream("#~", tables);
  stream("#Blob", blobs);
  stream("#GUID", guids);
  file.zeros(kHeader - file.size());
  return file.append(pdb.bytes()).append(tables.bytes()).append(blobs.bytes()).append(guids.bytes()).bytes();
}

// The points are: IL 0, line 10; IL 5, hidden; IL 7, line 12, in another document; IL 9, line 11.
static std::vector<std::byte> points() {
  return ByteWriter()
      .append({0x00})                          // no local variables
      .append({0, 0x01, 0x06, 10, 4})          // +0, 1 line, 3 columns (signed), line 10, column 4
      .append({5, 0x00, 0x00})                 // hidden
      .append({0, 2})                          // document 2
      .append({2, 0x00, 0x08, 0x04, 0x02})     // +2, 0 lines, 8 columns, line +2, column +1
      .append({2, 0x00, 0x08, 0x7F, 0x00})     // +2, 0 lines, 8 columns, line -1
      .bytes();
}

PortablePdbBuilder sample_portable_pdb() {
  PortablePdbBuilder pdb;
  pdb.document('/', {"", "src", "app", "Main.cs"});
  pdb.document('\0', {"C:\\", "Other.cs"});
  pdb.method(1, pdb.blob(points()));
  pdb.method(0, 0);
  return pdb;
}

}  // namespace mixwalk::test
