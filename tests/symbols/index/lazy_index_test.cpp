#include "symbols/index/lazy_index.h"

#include <gtest/gtest.h>

#include "tests/support/lazy_index_peer.h"

namespace mixwalk {
namespace {

// A reader whose unit n has one function "fn", at n × 0x1000, of 0x100 bytes.
class FakeReader final : public UnitReader {
 public:
  explicit FakeReader(std::vector<std::uint32_t>& read) : read_(read) {}
  void read_unit(std::uint32_t unit, IndexBuilder& into) override {
    read_.push_back(unit);
    const ScopeId id = into.add_function(into.name("f" + std::to_string(unit)), unit * 0x1000);
    into.add_range(id, unit * 0x1000, unit * 0x1000 + 0x100);
  }

 private:
  std::vector<std::uint32_t>& read_;
};

TEST(LazyIndexTest, UnitIsReadWhenItIsFirstAskedFor) {
  std::vector<std::uint32_t> read;
  LazyIndex index({{0x2000, 0x3000, 2}, {0x1000, 0x2000, 1}, {0x3000, 0x4000, 3}},
                  std::make_unique<FakeReader>(read), 0x10000);
  SourceLocation found;
  EXPECT_FALSE(index.find(0xFFF, found));
  EXPECT_TRUE(read.empty());
  ASSERT_TRUE(index.find(0x2010, found));
  EXPECT_EQ(found.frames[0].name, "f2");
  EXPECT_EQ(found.begin, 0x2000u);
  EXPECT_FALSE(index.find(0x2100, found));  // in the unit, but in none of its functions
  EXPECT_FALSE(index.find(0x4000, found));
  EXPECT_EQ(read, std::vector<std::uint32_t>{2});
  EXPECT_EQ(LazyIndexTestPeer::units_read(index), 1u);
  LazyIndexTestPeer::read_all(index);
  EXPECT_EQ(read, (std::vector<std::uint32_t>{2, 1, 3}));
  EXPECT_GT(index.bytes(), 0u);
}

}  // namespace
}  // namespace mixwalk
