#include "symbols/win/clr_il_source.h"

#include <gtest/gtest.h>

#include "tests/symbols/win/fake_clr.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kFirst = 0x10000, kSecond = 0x20000, kCold = 0x90000;

class ClrIlSourceTest : public testing::Test {
 protected:
  ClrIlSourceTest() {
    clr_.file = L"C:\\app\\\u00fcber.dll";
    clr_.metadata.mvid = {0x04030201, 0x0605, 0x0807, {9, 10, 11, 12, 13, 14, 15, 16}};
    clr_.functions[1] = {0, 0x06000007, {}};
    clr_.code[kFirst] = {1, {{kFirst, 0x40}}, {{0, 0, 0x10}, {5, 0x10, 0x40}}};
    // The function was jitted again, and a part of it lies apart.
    clr_.code[kSecond] = {1, {{kSecond, 0x20}, {kCold, 0x20}}, {{2, 0, 0x20}, {9, 0x20, 0x40}}};
  }
  ~ClrIlSourceTest() override { EXPECT_EQ(clr_.metadata.references, 0); }

  test::FakeClr clr_;
  ClrIlSource source_{clr_.info(), clr_.info9()};
};

TEST_F(ClrIlSourceTest, EveryVersionHasItsOwnMap) {
  EXPECT_EQ(source_.find(1, kFirst + 0x0f).offset, 0u);
  EXPECT_EQ(source_.find(1, kFirst + 0x10).offset, 5u);
  EXPECT_EQ(source_.find(1, kSecond + 0x10).offset, 2u);
  EXPECT_EQ(source_.find(1, kSecond).method, 0x06000007u);
}

TEST_F(ClrIlSourceTest, ColdCodeIsCountedBehindTheHotOne) { EXPECT_EQ(source_.find(1, kCold).offset, 9u); }

TEST_F(ClrIlSourceTest, AnAssemblyIsItsFileAndBuild) {
  EXPECT_EQ(source_.find(1, kFirst).assembly, 0);
  EXPECT_EQ(source_.find(1, kSecond).assembly, 0);
  ASSERT_EQ(source_.assemblies().size(), 1u);
  const Assembly& assembly = source_.assemblies()[0];
  EXPECT_EQ(assembly.path, "C:\\app\\\u00fcber.dll");
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(assembly.mvid[i], std::byte(i + 1));
  EXPECT_TRUE(assembly.optimised);
}

TEST_F(ClrIlSourceTest, ADebugBuildIsNotOptimised) {
  clr_.metadata.debuggable = {1, 0, 7, 1, 0, 0, 0, 0};
  source_.find(1, kFirst);
  EXPECT_FALSE(source_.assemblies()[0].optimised);
}

TEST_F(ClrIlSourceTest, AnAddressOutsideOfItsCode) {
  EXPECT_EQ(source_.find(1, kFirst + 0x40).assembly, -1);
  EXPECT_EQ(source_.find(1, kFirst - 1).assembly, -1);
}

// The PDB is that of the file.
TEST_F(ClrIlSourceTest, AMethodThatHotReloadHasChanged) {
  clr_.reloaded = true;
  EXPECT_EQ(source_.find(1, kFirst).assembly, -1);
}

TEST_F(ClrIlSourceTest, WhatTheRuntimeRefuses) {
  EXPECT_EQ(source_.find(2, kFirst + 1).assembly, -1) << "no such function";
  clr_.has_debugger = false;
  EXPECT_EQ(source_.find(1, kFirst + 2).assembly, -1) << "no map";
  clr_.has_debugger = true;
  clr_.has_metadata = false;
  EXPECT_EQ(source_.find(1, kFirst + 3).assembly, -1) << "no metadata";
  ClrIlSource older(clr_.info(), nullptr);
  EXPECT_EQ(older.find(1, kFirst).assembly, -1) << "no interface for it";
}

TEST_F(ClrIlSourceTest, AMapOfManyEntries) {
  auto& map = clr_.code[kFirst].map;
  map.clear();
  for (std::uint32_t i = 0; i < 0x1000; ++i) map.push_back({i, i, i + 1});
  EXPECT_EQ(source_.find(1, kFirst + 0x3f).offset, 0x3fu);
  map = {{7, 0, 0x40}};
  EXPECT_EQ(source_.find(1, kFirst + 0x3e).offset, 7u) << "the entries of the map before are gone";
}

TEST_F(ClrIlSourceTest, TheRuntimeIsAskedOnceUntilCodeIsForgotten) {
  source_.find(1, kFirst);
  source_.find(1, kFirst);
  EXPECT_EQ(clr_.questions, 1);
  EXPECT_NE(source_.known(kFirst), nullptr);
  source_.forget_code();
  EXPECT_EQ(source_.known(kFirst), nullptr);
  EXPECT_EQ(source_.find(1, kFirst).assembly, 0) << "the assembly is still the same";
  EXPECT_EQ(clr_.questions, 2);
  source_.clear();
  EXPECT_TRUE(source_.assemblies().empty());
}

}  // namespace
}  // namespace mixwalk
