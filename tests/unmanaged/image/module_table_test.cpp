#include "unmanaged/image/module_table.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

ModuleTable::Entry module(std::uint64_t base, std::uint32_t size, const char* path) {
  return {{.base = base, .size = size}, {.path = path}};
}

TEST(ModuleTable, SortsByBaseAndKeepsDetailsBesideTheirSpans) {
  const ModuleTable table({module(0x5000, 0x1000, "b"), module(0x1000, 0x1000, "a")});
  ASSERT_EQ(table.view().modules().size(), 2u);
  EXPECT_EQ(table.view().modules()[0].base, 0x1000u);
  EXPECT_EQ(table.details()[0].path, "a");
  EXPECT_EQ(table.details()[1].path, "b");
}

TEST(ModuleTable, OfImagesThatOverlapTheFirstStays) {
  const ModuleTable table({module(0x1000, 0x2000, "first"), module(0x2000, 0x1000, "second"),
                           module(0x3000, 0x1000, "beside")});
  ASSERT_EQ(table.details().size(), 2u);
  EXPECT_EQ(table.details()[0].path, "first");
  EXPECT_EQ(table.details()[1].path, "beside");
}

TEST(ModuleTable, ImageWithoutASizeIsLeftOut) {
  EXPECT_TRUE(ModuleTable({module(0x1000, 0, "nothing")}).details().empty());
}

TEST(ModuleTable, ViewOutlivesAMoveOfTheTable) {
  ModuleTable table({module(0x1000, 0x1000, "a")});
  const ModuleView view = table.view();
  const ModuleTable moved = std::move(table);
  EXPECT_EQ(view.find(0x1800), moved.view().modules().data());
}

}  // namespace
}  // namespace mixwalk
