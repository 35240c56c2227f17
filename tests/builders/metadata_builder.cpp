#include "tests/builders/metadata_builder.h"

namespace mixwalk::test {
namespace {

constexpr unsigned kModule = 0x00, kTypeRef = 0x01, kTypeDef = 0x02, kField = 0x04, kMethodDef = 0x06,
                   kMemberRef = 0x0A, kCustomAttribute = 0x0C, kModuleRef = 0x1A, kImplMap = 0x1C, kAssembly = 0x20,
                   kAssemblyRef = 0x23, kNestedClass = 0x29, kGenericParam = 0x2A;

}  // namespace

std::uint32_t MetadataBuilder::text(const std::string& value) {
  const auto at = static_cast<std::uint32_t>(texts_.size());
  texts_.text(value);
  return at;
}

std::uint32_t MetadataBuilder::blob(const std::vector<std::byte>& bytes) {
  const auto at = static_cast<std::uint32_t>(blobs_.size());
  blobs_.u8(bytes.size()).append(bytes);
  return at;
}

std::uint32_t MetadataBuilder::guid(std::uint8_t of) {
  for (int i = 0; i < 16; ++i) guids_.u8(of);
  return static_cast<std::uint32_t>(guids_.size() / 16);
}

std::uint32_t MetadataBuilder::row(unsigned table, const ByteWriter& row) {
  tables_.at(table).bytes.append(row.bytes());
  return ++tables_.at(table).count;
}

std::vector<std::byte> MetadataBuilder::build() const {
  ByteWriter tables;
  std::uint64_t present = 0;
  for (unsigned i = 0; i < 64; ++i) present |= std::uint64_t{tables_[i].count != 0} << i;
  tables.u32(0).u8(2).u8(0).u8(heap_sizes).u8(1).u64(present).u64(sorted);
  for (const Rows& rows : tables_) {
    if (rows.count != 0) tables.u32(rows.count);
  }
  if ((heap_sizes & 0x40) != 0) tables.u32(0xEEEEEEEE);
  for (const Rows& rows : tables_) tables.append(rows.bytes.bytes());

  ByteWriter root;
  root.u32(0x424A5342).u16(1).u16(1).u32(0).u32(12).text("v4.0.30319").align(4).u16(0).u16(4);
  constexpr std::uint32_t kHeader = 32 + (8 + 4) + (8 + 12) + (8 + 8) + (8 + 8);
  std::uint32_t offset = kHeader;
  ByteWriter content;
  const auto stream = [&](const std::string& name, ByteWriter bytes) {
    bytes.align(4);
    root.u32(offset).u32(bytes.size()).text(name).align(4);
    offset += static_cast<std::uint32_t>(bytes.size());
    content.append(bytes.bytes());
  };
  stream(tables_name, tables);
  stream("#Strings", texts_);
  stream("#GUID", guids_);
  stream("#Blob", blobs_);
  return root.append(content.bytes()).bytes();
}

MetadataBuilder sample_metadata() {
  MetadataBuilder of;
  const auto text = [&](const char* value) { return of.text(value); };
  const auto blob = [&](std::initializer_list<int> bytes) { return of.blob(ByteWriter().append(bytes).bytes()); };
  of.guid(0xEE);
  of.row(kModule, ByteWriter().u16(0).u16(text("Shop.dll")).u16(of.guid(9)).u16(0).u16(0));
  of.row(kAssembly, ByteWriter().u32(0x8004).u16(1).u16(0).u16(0).u16(0).u32(0).u16(0).u16(text("Shop")).u16(0));
  const std::uint32_t library = text("System.Runtime");
  of.row(kAssemblyRef, ByteWriter().u16(10).u16(0).u16(0).u16(0).u32(0).u16(0).u16(library).u16(0).u16(0));
  // A resolution scope: 2 is the first AssemblyRef (1 << 2 | 2), 3 a TypeRef.
  of.row(kTypeRef, ByteWriter().u16(6).u16(text("DebuggableAttribute")).u16(text("System.Diagnostics")));
  of.row(kTypeRef, ByteWriter().u16(6).u16(text("Range")).u16(text("System")));
  of.row(kTypeRef, ByteWriter().u16(2 << 2 | 3).u16(text("Part")).u16(0));

  const std::uint32_t shop = text("Shop");
  const auto type = [&](std::uint32_t flags, const char* name, std::uint32_t space, int fields, int methods) {
    of.row(kTypeDef, ByteWriter().u32(flags).u16(text(name)).u16(space).u16(0).u16(fields).u16(methods));
  };
  type(0, "<Module>", 0, 1, 1);
  type(1, "Orders`1", shop, 1, 1);
  type(2, "Line", 0, 3, 3);
  type(1, "Native", shop, 3, 4);
  type(0x1001, "ICart", shop, 3, 5);
  of.row(kNestedClass, ByteWriter().u16(3).u16(2));

  of.row(kField, ByteWriter().u16(1).u16(text("_items")).u16(blob({6, 8})));
  of.row(kField, ByteWriter().u16(1).u16(text("_count")).u16(blob({6, 8})));
  const auto method = [&](const char* name, std::initializer_list<int> signature) {
    of.row(kMethodDef, ByteWriter().u32(0).u16(0).u16(0x86).u16(text(name)).u16(blob(signature)).u16(1));
  };
  method(".ctor", {0x20, 0, 1});
  method("Add", {0x30, 1, 2, 1, 8, 0x0E});
  method("Send", {0x20, 1, 1, 0x13, 0});
  method("Wait", {0x00, 0, 8});
  method("Open", {0x20, 0, 1});

  of.row(kModuleRef, ByteWriter().u16(text("kernel32.dll")));
  of.row(kImplMap, ByteWriter().u16(0).u16(4 << 1 | 1).u16(text("WaitForSingleObject")).u16(1));
  // The constructor's parent is TypeRef 1 (tag 1 of 3 bits); the attribute's parent is the assembly (tag 14 of 5 bits).
  of.row(kMemberRef, ByteWriter().u16(1 << 3 | 1).u16(text(".ctor")).u16(blob({0x20, 1, 1, 8})));
  of.row(kCustomAttribute, ByteWriter().u16(1 << 5 | 14).u16(1 << 3 | 3).u16(blob({7})));
  of.row(kGenericParam, ByteWriter().u16(0).u16(0).u16(2 << 1).u16(text("T")));
  of.row(kGenericParam, ByteWriter().u16(0).u16(0).u16(2 << 1 | 1).u16(text("U")));
  return of;
}

}  // namespace mixwalk::test
