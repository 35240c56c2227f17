#include "symbols/metadata/metadata_tables.h"

#include <gtest/gtest.h>

#include "tests/builders/metadata_builder.h"
#include "unmanaged/step/byte_memory.h"

namespace mixwalk {
namespace {

using test::ByteWriter;
using test::MetadataBuilder;
using T = MetadataTable;

std::optional<MetadataTables> open_tables(const MemoryReader& memory, std::size_t bytes) {
  const auto streams = read_metadata_root(memory, 0, bytes);
  return streams ? MetadataTables::open(memory, *streams) : std::nullopt;
}

// Memory in which one piece cannot be read.
class TornMemory final : public MemoryReader {
 public:
  TornMemory(std::span<const std::byte> bytes, std::uint64_t begin, std::uint64_t end)
      : bytes_(bytes), begin_(begin), end_(end) {}
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    return (address >= end_ || address + bytes <= begin_) && bytes_.read(address, into, bytes);
  }
  std::size_t read_up_to(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    if (address >= begin_ && address < end_) return 0;
    if (address < begin_) bytes = std::min<std::size_t>(bytes, begin_ - address);
    return bytes_.read_up_to(address, into, bytes);
  }

 private:
  ByteMemory bytes_;
  std::uint64_t begin_, end_;
};

TEST(MetadataTablesTest, CellsOfNarrowTables) {
  const auto bytes = test::sample_metadata().build();
  const ByteMemory memory(bytes);
  const auto tables = open_tables(memory, bytes.size());
  ASSERT_TRUE(tables);
  EXPECT_EQ(tables->rows(T::type_def), 5u);
  EXPECT_EQ(tables->rows(T::property), 0u);
  EXPECT_TRUE(tables->is_whole(T::type_def));
  EXPECT_EQ(tables->cell(T::type_def, 5, 0), 0x1001u);
  EXPECT_EQ(tables->cell(T::type_def, 5, 5), 5u);
  EXPECT_EQ(tables->cell(T::type_ref, 3, 0), 0x01000002u) << "a coded index is a token";
  EXPECT_EQ(tables->cell(T::type_def, 0, 0), std::nullopt);
  EXPECT_EQ(tables->cell(T::type_def, 6, 0), std::nullopt);
  EXPECT_EQ(tables->cell(T::type_def, 1, 6), std::nullopt);
  EXPECT_EQ(tables->cell(T::type_def, 1, 99), std::nullopt);
  EXPECT_EQ(tables->cell(T::property, 1, 0), std::nullopt);
}

TEST(MetadataTablesTest, WideIndexesAndExtraData) {
  MetadataBuilder builder;
  builder.heap_sizes = 1 | 2 | 4 | 0x40;
  const std::uint32_t name = builder.text("wide"), guid = builder.guid(7);
  builder.row(0x00, ByteWriter().u16(0).u32(name).u32(guid).u32(0).u32(0));
  // 16,384 TypeRefs do not fit an index with two bits for the table, so their own scope and a TypeDef's base have four
  // bytes; 65,536 methods need a wide row number, and their parameters a narrow one.
  for (int i = 0; i < 0x4000; ++i) builder.row(0x01, ByteWriter().u32(0).u32(name).u32(0));
  builder.row(0x02, ByteWriter().u32(1).u32(name).u32(0).u32(0x4000 << 2 | 1).u16(1).u32(0x10000));
  for (int i = 0; i < 0x10000; ++i) builder.row(0x06, ByteWriter().u32(i).u16(0).u16(0).u32(name).u32(0).u16(1));
  const auto bytes = builder.build();
  const ByteMemory memory(bytes);
  const auto tables = open_tables(memory, bytes.size());
  ASSERT_TRUE(tables);
  EXPECT_EQ(tables->cell(T::type_def, 1, 3), 0x01004000u);
  EXPECT_EQ(tables->cell(T::type_def, 1, 5), 0x10000u);
  EXPECT_EQ(tables->cell(T::method_def, 0x10000, 0), 0xFFFFu);
  EXPECT_EQ(tables->text(*tables->cell(T::method_def, 0x10000, 3)), "wide");
  EXPECT_EQ(tables->guid(*tables->cell(T::module, 1, 2))->front(), std::byte{7});
}

TEST(MetadataTablesTest, SortedAndUnsortedRowsAreFound) {
  for (const std::uint64_t sorted : {std::uint64_t{1} << 0x29, std::uint64_t{0}}) {
    MetadataBuilder builder;
    builder.sorted = sorted;
    std::vector<int> inner = {3, 4, 9, 12};
    if (sorted == 0) std::swap(inner[1], inner[3]);
    for (const int row : inner) builder.row(0x29, ByteWriter().u16(row).u16(1));
    const auto bytes = builder.build();
    const ByteMemory memory(bytes);
    const auto tables = open_tables(memory, bytes.size());
    ASSERT_TRUE(tables);
    for (std::size_t i = 0; i < inner.size(); ++i) {
      EXPECT_EQ(tables->find_row(T::nested_class, 0, static_cast<std::uint32_t>(inner[i])), i + 1) << sorted;
    }
    for (const std::uint32_t missing : {0u, 1u, 5u, 13u}) EXPECT_EQ(tables->find_row(T::nested_class, 0, missing), 0u);
  }
}

TEST(MetadataTablesTest, RowsBeyondTheStreamDoNotCount) {
  auto builder = test::sample_metadata();
  builder.row(0x2A, ByteWriter().u16(0));  // cut off, and the last table
  const auto bytes = builder.build();
  const ByteMemory memory(bytes);
  const auto tables = open_tables(memory, bytes.size());
  ASSERT_TRUE(tables);
  EXPECT_EQ(tables->rows(T::generic_param), 2u);
  EXPECT_FALSE(tables->is_whole(T::generic_param));
}

TEST(MetadataTablesTest, MissingPagesCostOnlyTheirOwnAnswers) {
  const auto bytes = test::sample_metadata().build();
  const ByteMemory whole(bytes);
  const auto root = read_metadata_root(whole, 0, bytes.size());
  ASSERT_TRUE(root);
  const TornMemory torn(bytes, root->strings.address + 40, root->strings.address + 60);
  const auto tables = open_tables(torn, bytes.size());
  ASSERT_TRUE(tables);
  EXPECT_EQ(tables->text(1), "Shop.dll");
  EXPECT_EQ(tables->text(45), std::nullopt);
  EXPECT_EQ(tables->text(39), std::nullopt) << "its end is missing";
  EXPECT_EQ(tables->cell(T::type_def, 5, 0), 0x1001u);
  const TornMemory without_header(bytes, root->tables.address, root->tables.address + 1);
  EXPECT_FALSE(open_tables(without_header, bytes.size()));
}

TEST(MetadataTablesTest, HeapsAreBounded) {
  MetadataBuilder builder;
  builder.row(0x00, ByteWriter().u16(0).u16(0).u16(0).u16(0).u16(0));
  const std::uint32_t longest = builder.text(std::string(5000, 'x'));
  const std::uint32_t blob = builder.blob(ByteWriter().append({1, 2}).bytes());
  const auto bytes = builder.build();
  const ByteMemory memory(bytes);
  const auto tables = open_tables(memory, bytes.size());
  ASSERT_TRUE(tables);
  EXPECT_GE(tables->text(longest)->size(), MetadataTables::kMaxText);
  EXPECT_LT(tables->text(longest)->size(), 5000u);
  EXPECT_EQ(tables->text(99'999), std::nullopt);
  EXPECT_EQ(tables->blob(blob)->size(), 2u);
  EXPECT_EQ(tables->blob(0)->size(), 0u);
  EXPECT_EQ(tables->blob(blob + 2), std::nullopt) << "its length is beyond the heap";
  EXPECT_EQ(tables->blob(99'999), std::nullopt);
  EXPECT_EQ(tables->guid(0), std::nullopt);
  EXPECT_EQ(tables->guid(1), std::nullopt);
}

TEST(MetadataTablesTest, CutOffOrWrongAnywhereIsNoCrash) {
  const auto whole = test::sample_metadata().build();
  const auto visit = [](std::span<const std::byte> bytes) {
    const ByteMemory memory(bytes);
    const auto tables = open_tables(memory, bytes.size());
    if (!tables) return;
    for (unsigned table = 0; table < kMetadataTables; ++table) {
      for (unsigned column = 0; column < 9; column += 2) {
        tables->cell(static_cast<T>(table), 1, column);
        tables->find_row(static_cast<T>(table), column, 2);
      }
    }
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    visit(std::span(whole).first(i));
    for (const int value : {0x00, 0x7F, 0xFF}) {
      auto damaged = whole;
      damaged[i] = static_cast<std::byte>(value);
      visit(damaged);
    }
  }
}

}  // namespace
}  // namespace mixwalk
