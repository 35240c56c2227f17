#include "symbols/index/sorted_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace mixwalk {
namespace {

struct Row {
  std::uint32_t rva;
};

constexpr std::size_t kBytesPerRow = sizeof(Row) + sizeof(std::uint32_t) / SortedRows<Row>::kRowsPerPage;
constexpr std::size_t kEndsOfTable = 2 * sizeof(std::uint32_t);

SortedRows<Row> rows_at(const std::set<std::uint32_t>& rvas) {
  std::vector<Row> rows;
  rows.reserve(rvas.size());
  for (const std::uint32_t rva : rvas) rows.push_back({rva});
  return SortedRows<Row>(std::move(rows));
}

// Returns the RVA of the row that is found, or -1 if there is none.
std::int64_t found(const SortedRows<Row>& rows, std::uint32_t rva) {
  const Row* const row = rows.last_at(rva);
  return row == nullptr ? -1 : std::int64_t{row->rva};
}

TEST(SortedRowsTest, NoRowsHaveNothing) {
  EXPECT_EQ(found(SortedRows<Row>(), 0), -1);
  EXPECT_EQ(found(rows_at({}), 0x1000), -1);
  EXPECT_EQ(found(rows_at({}), UINT32_MAX), -1);
}

TEST(SortedRowsTest, AddressBeforeTheFirstRowHasNone) {
  const auto rows = rows_at({0x1000, 0x1004, 0x1008, 0x100C, 0x1010, 0x1014});
  EXPECT_EQ(found(rows, 0xFFF), -1);
  EXPECT_EQ(found(rows, 0), -1);
  EXPECT_EQ(found(rows, 0x1000), 0x1000);
}

TEST(SortedRowsTest, AddressBehindTheLastRowHasTheLast) {
  const auto rows = rows_at({0x1000, 0x1004, 0x1008, 0x100C, 0x1010, 0x1014});
  EXPECT_EQ(found(rows, 0x1014), 0x1014);
  EXPECT_EQ(found(rows, 0x5000), 0x1014);
  EXPECT_EQ(found(rows, UINT32_MAX), 0x1014);
}

TEST(SortedRowsTest, EmptyPageHasTheRowThatReachesIntoIt) {
  // Eight rows over 64 KiB make pages of 16 KiB; the pages in the middle have no row.
  const auto rows = rows_at({0x1000, 0x1010, 0x1020, 0x1030, 0x1040, 0x1050, 0x1060, 0x10FFF});
  EXPECT_EQ(found(rows, 0x1060), 0x1060);
  EXPECT_EQ(found(rows, 0x5000), 0x1060);
  EXPECT_EQ(found(rows, 0x9000), 0x1060);
  EXPECT_EQ(found(rows, 0x10FFE), 0x1060);
  EXPECT_EQ(found(rows, 0x10FFF), 0x10FFF);
}

TEST(SortedRowsTest, ImageOfFourGiBWithOneRowNeedsNoTable) {
  for (const std::uint32_t rva : {0u, 0x1000u, UINT32_MAX}) {
    const auto rows = rows_at({rva});
    EXPECT_EQ(found(rows, rva), rva);
    EXPECT_EQ(found(rows, UINT32_MAX), rva);
    if (rva != 0) {
      EXPECT_EQ(found(rows, rva - 1), -1);
    }
    EXPECT_LE(rows.bytes(), sizeof(Row) + kEndsOfTable);
  }
}

TEST(SortedRowsTest, TableIsBoundedByTheRowsHoweverFarTheyLieApart) {
  const auto two = rows_at({0, UINT32_MAX});
  EXPECT_EQ(found(two, 0), 0);
  EXPECT_EQ(found(two, UINT32_MAX - 1), 0);
  EXPECT_EQ(found(two, UINT32_MAX), UINT32_MAX);
  EXPECT_LE(two.bytes(), 2 * kBytesPerRow + kEndsOfTable);

  // All rows but one are in the same page.
  std::set<std::uint32_t> crowd = {UINT32_MAX};
  for (std::uint32_t rva = 0; rva < 10'000; rva += 2) crowd.insert(rva);
  const auto crowded = rows_at(crowd);
  EXPECT_EQ(found(crowded, 9'001), 9'000);
  EXPECT_EQ(found(crowded, 0x7FFF'FFFF), 9'998);
  EXPECT_LE(crowded.bytes(), crowd.size() * kBytesPerRow + kEndsOfTable);
}

// Every address, and some behind the last row, is compared with a search of all rows.
TEST(SortedRowsTest, RandomRowsAreFoundAsByASearchOfAll) {
  std::mt19937 random(13);
  for (int round = 0; round < 500; ++round) {
    const std::uint32_t base = random() % 3 == 0 ? UINT32_MAX - 2'000 : random() % 5'000;
    const std::uint32_t count = 1 + random() % 60, gap = 1 + random() % 30;
    std::set<std::uint32_t> rvas;
    for (std::uint32_t i = 0, rva = base; i < count; ++i, rva += 1 + random() % (random() % 8 == 0 ? 10 * gap : gap)) {
      if (rva >= base) rvas.insert(rva);
    }
    const auto rows = rows_at(rvas);
    const std::uint64_t end = std::min<std::uint64_t>(std::uint64_t{*rvas.rbegin()} + 100, UINT32_MAX);
    for (std::uint64_t rva = base < 100 ? 0 : base - 100; rva <= end; ++rva) {
      const auto asked = static_cast<std::uint32_t>(rva);
      const auto after = rvas.upper_bound(asked);
      const std::int64_t expected = after == rvas.begin() ? -1 : std::int64_t{*std::prev(after)};
      ASSERT_EQ(found(rows, asked), expected) << "round " << round << ", RVA " << asked;
    }
    ASSERT_LE(rows.bytes(), rvas.size() * kBytesPerRow + kEndsOfTable);
  }
}

}  // namespace
}  // namespace mixwalk
