#include "symbols/managed_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "symbols/portable_pdb/assembly_mvid.h"
#include "tests/support/byte_writer.h"
#include "tests/support/image_builder.h"
#include "tests/symbols/portable_pdb/portable_pdb_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

class FakeFiles final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    ++questions[path];
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }
  std::map<std::string, std::vector<std::byte>> files;
  std::map<std::string, int> questions;
};

constexpr std::size_t kCliDirectoryAt = ImageBuilder::kDirectoriesAt + 14 * 8;
constexpr std::uint32_t kCode = 0x1000, kCliBytes = 72, kRoot = kCode + kCliBytes;

std::vector<std::uint8_t> numbers(const std::vector<std::byte>& bytes) {
  std::vector<std::uint8_t> out;
  for (const std::byte byte : bytes) out.push_back(static_cast<std::uint8_t>(byte));
  return out;
}

// Metadata of an assembly of two tables, Module (its MVID 16 times `mvid`) and TypeDef (ECMA-335 II.24.2).
std::vector<std::byte> metadata(std::uint8_t mvid) {
  test::ByteWriter tables;
  tables.u32(0).u8(2).u8(0).u8(0).u8(1).u32(0x5).u32(0).u32(0).u32(0);  // Module and TypeDef
  tables.u32(1).u32(0);                                                 // their rows
  tables.u16(0).u16(0).u16(2).u16(0).u16(0);                            // Module: its MVID is the second GUID
  test::ByteWriter guids;
  for (int i = 0; i < 16; ++i) guids.u8(0);
  for (int i = 0; i < 16; ++i) guids.u8(mvid);
  const auto table_bytes = tables.bytes(), guid_bytes = guids.bytes();
  test::ByteWriter root;
  const std::uint32_t header = 16 + 4 + 4 + (8 + 4) + (8 + 8);
  root.u32(0x424A5342).u16(1).u16(1).u32(0).u32(4).u32(0).u16(0).u16(2);
  root.u32(header).u32(static_cast<std::uint32_t>(table_bytes.size())).u8('#').u8('~').u8(0).u8(0);
  root.u32(header + static_cast<std::uint32_t>(table_bytes.size())).u32(32);
  for (const char c : {'#', 'G', 'U', 'I', 'D', '\0', '\0', '\0'}) root.u8(static_cast<std::uint8_t>(c));
  auto bytes = root.bytes();
  bytes.insert(bytes.end(), table_bytes.begin(), table_bytes.end());
  bytes.insert(bytes.end(), guid_bytes.begin(), guid_bytes.end());
  return bytes;
}

std::vector<std::byte> assembly_file(std::uint8_t mvid) {
  const auto root = metadata(mvid);
  test::ByteWriter cli;
  cli.u32(kCliBytes).u16(2).u16(5).u32(kRoot).u32(static_cast<std::uint32_t>(root.size()));
  auto file = ImageBuilder()
                  .code_view(7, 1, "app.pdb", true)
                  .put_code(kCode, numbers(cli.bytes()))
                  .put_code(kRoot, numbers(root))
                  .build();
  ImageBuilder::put32(file, kCliDirectoryAt, kCode);
  ImageBuilder::put32(file, kCliDirectoryAt + 4, kCliBytes);
  return file;
}

Assembly app(std::uint8_t mvid) {
  Assembly assembly{.path = "C:\\app\\app.dll"};
  assembly.mvid.fill(std::byte{mvid});
  return assembly;
}

TEST(AssemblyMvid, OfAnAssembly) { EXPECT_EQ(assembly_mvid(assembly_file(9)), app(9).mvid); }

TEST(AssemblyMvid, OfOtherFiles) {
  EXPECT_EQ(assembly_mvid({}), std::nullopt);
  EXPECT_EQ(assembly_mvid(ImageBuilder().build()), std::nullopt);
}

TEST(AssemblyMvid, CutOffOrWrongAnywhereIsNoCrash) {
  const auto whole = assembly_file(9);
  const std::size_t begin = ImageBuilder::offset_of(whole, kCode);
  for (std::size_t i = 0; i < begin + 0x100; ++i) {
    assembly_mvid(std::span(whole).first(i));
    auto wrong = whole;
    wrong[i] ^= std::byte{0xFF};
    assembly_mvid(wrong);
  }
}

TEST(ManagedLines, OfThePdbBesideTheAssembly) {
  FakeFiles files;
  files.files["C:\\app\\app.dll"] = assembly_file(9);
  files.files["C:\\app\\app.pdb"] = test::sample_portable_pdb().build();
  ManagedLines lines(files, files, {});
  EXPECT_EQ(lines.find(app(9), 0x06000001, 0), (ManagedPlace{"/src/app/Main.cs", 10}));
  EXPECT_EQ(lines.find(app(9), 0x06000001, 9), (ManagedPlace{"C:\\Other.cs", 11}));
  EXPECT_EQ(lines.find(app(9), 0x06000002, 0), std::nullopt);
  EXPECT_EQ(files.questions["C:\\app\\app.dll"], 1) << "it is opened once";
}

TEST(ManagedLines, AnotherBuildLiesThereNow) {
  FakeFiles files;
  files.files["C:\\app\\app.dll"] = assembly_file(8);
  files.files["C:\\app\\app.pdb"] = test::sample_portable_pdb().build();
  ManagedLines lines(files, files, {});
  EXPECT_EQ(lines.find(app(9), 0x06000001, 0), std::nullopt);
  EXPECT_EQ(files.questions["C:\\app\\app.pdb"], 0);
}

TEST(ManagedLines, WithoutPdbItIsMissing) {
  FakeFiles files;
  files.files["C:\\app\\app.dll"] = assembly_file(9);
  ManagedLines lines(files, files, {});
  EXPECT_EQ(lines.find(app(9), 0x06000001, 0), std::nullopt);
  EXPECT_EQ(lines.find(app(9), 0x06000001, 9), std::nullopt);
  ASSERT_EQ(lines.missing().size(), 1u);
  EXPECT_EQ(lines.missing()[0].name, "app.pdb");
}

TEST(ManagedLines, AnAssemblyWithoutFile) {
  FakeFiles files;
  ManagedLines lines(files, files, {});
  EXPECT_EQ(lines.find({}, 0x06000001, 0), std::nullopt);
  EXPECT_EQ(lines.find(app(9), 0x06000001, 0), std::nullopt);
  EXPECT_TRUE(lines.missing().empty());
}

}  // namespace
}  // namespace mixwalk
