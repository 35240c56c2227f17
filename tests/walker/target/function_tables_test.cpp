#include "walker/target/function_tables.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "tests/builders/function_table_list.h"

namespace mixwalk {
namespace {

using test::FunctionTableList;
using test::ImageBuilder;
using test::kNtdllBase;

constexpr std::uint64_t kCode = 0x7000'0000, kEntries = 0x7100'0000;

// Memory that consists of pieces.
class Pieces final : public MemoryReader {
 public:
  void put(std::uint64_t base, std::vector<std::byte> bytes) { pieces_[base] = std::move(bytes); }
  std::vector<std::byte>& at(std::uint64_t base) { return pieces_.at(base); }
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    ++reads;
    const auto after = pieces_.upper_bound(address);
    if (after == pieces_.begin()) return false;
    const auto& [base, piece] = *std::prev(after);
    if (address - base > piece.size() || bytes > piece.size() - (address - base)) return false;
    std::memcpy(into, piece.data() + (address - base), bytes);
    return true;
  }

  mutable std::size_t reads = 0;

 private:
  std::map<std::uint64_t, std::vector<std::byte>> pieces_;
};

class FunctionTablesTest : public testing::Test {
 protected:
  // Two functions, at 0x100 to 0x140 and 0x140 to 0x180 of the code.
  FunctionTablesTest() { put_entries({0x100, 0x140, 0x900, 0x140, 0x180, 0x910}); }

  void put_entries(const std::vector<std::uint32_t>& fields) {
    memory_.put(kEntries, FunctionTableList::entries(fields));
  }
  static FunctionTableList::Table table(std::uint32_t kind, std::uint32_t count = 2) {
    return {kEntries, kCode, kCode + 0xFFF, kCode, kind, count};
  }
  void put_list(const FunctionTableList& list) {
    memory_.put(kNtdllBase, list.ntdll());
    memory_.put(FunctionTableList::kNodes, list.nodes());
  }
  void put_list(const FunctionTableList::Table& table) { put_list(FunctionTableList().add(table)); }
  FunctionTables tables() const { return {memory_, kNtdllBase, ImageBuilder::kSizeOfImage}; }
  // The unwind data of the entry that was found for the code at this offset; 0 if none was.
  std::uint32_t unwind_at(std::uint64_t offset) const {
    const auto found = tables().find(kCode + offset);
    if (found.entry) {
      EXPECT_EQ(found.base, kCode);
    }
    return found.entry ? found.entry->unwind : 0;
  }

  Pieces memory_;
};

TEST_F(FunctionTablesTest, EntriesOfASortedTable) {
  put_list(table(FunctionTableList::kSorted));
  EXPECT_EQ(unwind_at(0x100), 0x900u);
  EXPECT_EQ(unwind_at(0x13F), 0x900u);
  EXPECT_EQ(unwind_at(0x140), 0x910u);
  EXPECT_EQ(unwind_at(0x17F), 0x910u);
  EXPECT_EQ(unwind_at(0x180), 0u);
  EXPECT_EQ(unwind_at(0xFF), 0u);
  EXPECT_EQ(unwind_at(0x1000), 0u);
}

TEST_F(FunctionTablesTest, EntriesOfAnUnsortedTable) {
  std::vector<std::uint32_t> fields;
  for (std::uint32_t i = 0; i < 300; ++i) fields.insert(fields.end(), {3000 - 10 * i, 3010 - 10 * i, 8 * (i + 1)});
  put_entries(fields);
  put_list(table(FunctionTableList::kUnsorted, 300));
  EXPECT_EQ(unwind_at(3000), 8u);
  EXPECT_EQ(unwind_at(19), 8u * 300);
  EXPECT_EQ(unwind_at(9), 0u);
  // A table of which a part cannot be read.
  put_list(table(FunctionTableList::kUnsorted, 301));
  EXPECT_EQ(unwind_at(19), 0u);
  EXPECT_EQ(unwind_at(3000), 8u);
}

TEST_F(FunctionTablesTest, ATableThatCanGrow) {
  put_list(table(FunctionTableList::kGrowable, 1));
  EXPECT_EQ(unwind_at(0x100), 0x900u);
  EXPECT_EQ(unwind_at(0x140), 0u) << "this entry is not counted yet";
  FunctionTables tables = this->tables();
  EXPECT_FALSE(tables.find(kCode + 0x140).entry);
  put_list(table(FunctionTableList::kGrowable, 2));
  EXPECT_FALSE(tables.find(kCode + 0x140).entry) << "the list was read";
  tables.forget();
  EXPECT_TRUE(tables.find(kCode + 0x140).entry);
}

TEST_F(FunctionTablesTest, ATableWithACallbackIsOnlySaidToExist) {
  put_list({kCode | 3, kCode, kCode + 0xFFF, kCode, FunctionTableList::kCallback, 0});
  FunctionTables tables = this->tables();
  EXPECT_FALSE(tables.find(kCode + 0x100).entry);
  EXPECT_TRUE(tables.find(kCode + 0x100).by_callback);
  EXPECT_FALSE(tables.find(kCode + 0x1000).by_callback);
}

// The runtime of .NET registers two tables for each code heap.
TEST_F(FunctionTablesTest, ATableBehindACallbackForTheSameCode) {
  put_list(FunctionTableList()
               .add({kCode | 3, kCode, kCode + 0xFFF, kCode, FunctionTableList::kCallback, 0})
               .add(table(FunctionTableList::kGrowable)));
  EXPECT_EQ(unwind_at(0x110), 0x900u);
}

TEST_F(FunctionTablesTest, ATableWhoseBaseIsFarBelowItsCode) {
  put_entries({0x1000'0100, 0x1000'0140, 0x900});
  put_list({kEntries, kCode, kCode + 0xFFF, kCode - 0x1000'0000, FunctionTableList::kSorted, 1});
  EXPECT_TRUE(tables().find(kCode + 0x120).entry);
}

TEST_F(FunctionTablesTest, EntriesThatAreNotSound) {
  put_list(table(FunctionTableList::kSorted));
  const auto at_110 = [&](const std::vector<std::uint32_t>& fields) {
    put_entries(fields);
    return unwind_at(0x110);
  };
  ASSERT_EQ(at_110({0x100, 0x140, 0x900, 0x140, 0x180, 0x910}), 0x900u);
  EXPECT_EQ(at_110({0x100, 0x140, 0x900, 0x130, 0x180, 0x910}), 0u) << "the next entry begins too early";
  EXPECT_EQ(at_110({0xF0, 0x108, 0x900, 0x100, 0x180, 0x910}), 0u) << "the entry before ends too late";
  EXPECT_EQ(at_110({0x100, 0x140, 0x000, 0x140, 0x180, 0x910}), 0u) << "the code was freed";
  EXPECT_EQ(at_110({0x100, 0x140, 0x901, 0x140, 0x180, 0x910}), 0u) << "refers to another entry";
  EXPECT_EQ(at_110({0x100, 0x1001, 0x900, 0x1001, 0x1180, 0x910}), 0u) << "beyond the table's code";
  EXPECT_EQ(at_110({0x100, 0x140, 0x900}), 0u) << "the next entry cannot be read";
}

TEST_F(FunctionTablesTest, TablesThatAreNotSound) {
  put_list({kEntries, kCode, kCode + 0xFFF, kCode, 4, 2});
  EXPECT_EQ(unwind_at(0x100), 0u) << "a kind that is not known";
  put_list({kEntries, kCode, kCode + 0xFFF, kCode + 0x200, FunctionTableList::kSorted, 2});
  EXPECT_EQ(unwind_at(0x100), 0u) << "the base is above the code";
  put_list({kEntries, 0, ~0ull, kCode, FunctionTableList::kSorted, 2});
  EXPECT_EQ(unwind_at(0x100), 0u) << "describes addresses that no program has";
  put_list({8, kCode, kCode + 0xFFF, kCode, FunctionTableList::kSorted, 2});
  EXPECT_EQ(unwind_at(0x100), 0u) << "no program has its entries there";
  put_list(table(FunctionTableList::kSorted, 0xFFFF'FFFF));
  EXPECT_EQ(unwind_at(0x100), 0u) << "most of its entries cannot be read";
  put_list(table(FunctionTableList::kUnsorted, 0xFFFF'FFFF));
  const std::size_t before = memory_.reads;
  EXPECT_EQ(unwind_at(0x100), 0u);
  EXPECT_LT(memory_.reads - before, 100u);
}

TEST_F(FunctionTablesTest, AListThatIsDamagedEndsThere) {
  FunctionTableList list;
  list.add(table(FunctionTableList::kCallback)).add(table(FunctionTableList::kSorted));
  put_list(list);
  ASSERT_EQ(unwind_at(0x100), 0x900u);
  // The second node does not lead back to the first one.
  FunctionTableList::put64(memory_.at(FunctionTableList::kNodes), 0x108, FunctionTableList::node(7));
  EXPECT_EQ(unwind_at(0x100), 0u);
  EXPECT_TRUE(tables().find(kCode + 0x100).by_callback);
  put_list(list);
  // The second node leads to itself.
  FunctionTableList::put64(memory_.at(FunctionTableList::kNodes), 0x100, FunctionTableList::node(1));
  FunctionTableList::put64(memory_.at(FunctionTableList::kNodes), 0x108, FunctionTableList::node(1));
  EXPECT_EQ(unwind_at(0x100), 0u);
  // The nodes cannot be read.
  memory_.put(FunctionTableList::kNodes, {});
  EXPECT_EQ(unwind_at(0x100), 0u);
}

// Both nodes lead to each other for ever.
TEST_F(FunctionTablesTest, AListWithoutAnEndIsReadInPart) {
  put_list(FunctionTableList().add(table(FunctionTableList::kSorted)).add(table(FunctionTableList::kSorted)));
  auto& nodes = memory_.at(FunctionTableList::kNodes);
  FunctionTableList::put64(nodes, 0x008, FunctionTableList::node(1));
  FunctionTableList::put64(nodes, 0x100, FunctionTableList::node(0));
  auto& ntdll = memory_.at(kNtdllBase);
  FunctionTableList::put64(ntdll, ImageBuilder::kData + 0x200, FunctionTableList::node(0));
  EXPECT_EQ(unwind_at(0x100), 0u) << "the first node does not lead back to the head";
  FunctionTableList::put64(nodes, 0x008, FunctionTableList::kHead);
  EXPECT_EQ(unwind_at(0x100), 0x900u) << "the first node was read once";
}

TEST_F(FunctionTablesTest, TheHeadIsKnownByTheFunctionThatReturnsIt) {
  put_list(table(FunctionTableList::kSorted));
  ASSERT_EQ(unwind_at(0x100), 0x900u);
  FunctionTables none(memory_, 0, 0);
  EXPECT_FALSE(none.find(kCode + 0x100).entry);
  auto& ntdll = memory_.at(kNtdllBase);
  ntdll[0x1047] = std::byte{0xCC};
  EXPECT_EQ(unwind_at(0x100), 0u) << "the function does more";
  ntdll[0x1047] = std::byte{0xC3};
  ntdll[0x1046] = std::byte{0x7F};
  EXPECT_EQ(unwind_at(0x100), 0u) << "the head is not in ntdll.dll";
  ntdll[0x1046] = std::byte{0};
  ntdll[0x1040] = std::byte{0xE9};
  EXPECT_EQ(unwind_at(0x100), 0u) << "the function was patched";
  // Wine's ntdll.dll does not have the function.
  memory_.put(kNtdllBase, test::loaded(test::ntdll_image()));
  EXPECT_EQ(unwind_at(0x100), 0u);
}

TEST_F(FunctionTablesTest, TheListIsReadOnce) {
  put_list(table(FunctionTableList::kSorted));
  FunctionTables tables = this->tables();
  (void)tables.find(kCode + 0x100);
  const std::size_t once = memory_.reads;
  (void)tables.find(0x1234'5678);
  EXPECT_EQ(memory_.reads, once);
}

}  // namespace
}  // namespace mixwalk
