#include "walker/hang/lock_graph.h"

#include <gtest/gtest.h>

#include "tests/builders/hang_builder.h"

namespace mixwalk {
namespace {

using test::HangBuilder;

HangBuilder threads(std::initializer_list<std::uint32_t> ids) {
  HangBuilder builder;
  for (const std::uint32_t id : ids) builder.thread(id, {"ntdll!NtWaitForSingleObject"});
  return builder;
}

std::vector<LockChain> lock_chains(const Snapshot& snapshot) { return lock_graph(snapshot).chains; }

TEST(LockGraphTest, NoLocksNoChains) { EXPECT_TRUE(lock_chains(threads({1, 2}).snapshot()).empty()); }

TEST(LockGraphTest, TwoThreadsCrossed) {
  const auto chains = lock_chains(threads({1, 2}).monitor(0xA, 1, {2}).monitor(0xB, 2, {1}).snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].end, ChainEnd::cycle);
  ASSERT_EQ(chains[0].links.size(), 2u);
  EXPECT_EQ(chains[0].links[0], (LockLink{0, 1, 1}));
  EXPECT_EQ(chains[0].links[1], (LockLink{1, 0, 0}));
}

TEST(LockGraphTest, ACircleOfFiveBeginsAtTheLowestId) {
  HangBuilder builder = threads({9, 7, 3, 5, 8});
  builder.monitor(0xA, 7, {9}).monitor(0xB, 3, {7}).monitor(0xC, 5, {3}).monitor(0xD, 8, {5}).monitor(0xE, 9, {8});
  const auto chains = lock_chains(builder.snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].links.size(), 5u);
  EXPECT_EQ(builder.snapshot().threads[chains[0].links[0].thread].os_id, 3u);
}

TEST(LockGraphTest, WhoWaitsForACircleIsBehindIt) {
  const auto chains =
      lock_chains(threads({1, 2, 3, 4}).monitor(0xA, 1, {2, 3}).monitor(0xB, 2, {1}).monitor(0xC, 3, {4}).snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].links.size(), 2u);
  EXPECT_EQ(chains[0].waiters, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(LockGraphTest, AChainNamesTheThreadAtItsEnd) {
  const auto chains = lock_chains(threads({1, 2, 3, 4}).monitor(0xA, 1, {2, 4}).monitor(0xB, 2, {3}).snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].end, ChainEnd::thread);
  EXPECT_EQ(chains[0].holder, 0u);
  ASSERT_EQ(chains[0].links.size(), 2u);
  EXPECT_EQ(chains[0].links[0].thread, 2u);
  EXPECT_EQ(chains[0].links[1].thread, 1u);
  EXPECT_EQ(chains[0].waiters, (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(LockGraphTest, AnOwnerThatIsNoThreadIsGone) {
  const auto chains = lock_chains(threads({1, 2}).monitor(0xA, 77, {1, 2}).snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].end, ChainEnd::gone);
  EXPECT_EQ(chains[0].waiters.size(), 2u);
}

TEST(LockGraphTest, AnOwnerThatNobodyCanName) {
  const auto chains =
      lock_chains(threads({1})
                      .lock({.kind = LockKind::srw_lock, .address = 0xA, .held = true, .waiters = {{1, false}}})
                      .snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].end, ChainEnd::nobody);
}

TEST(LockGraphTest, ALockThatNobodyHoldsHoldsNobodyUp) {
  EXPECT_TRUE(lock_chains(threads({1}).monitor(0xA, 0, {1}).snapshot()).empty());
}

TEST(LockGraphTest, AThreadThatWaitsForAPulseWaitsForNoOwner) {
  EXPECT_TRUE(lock_chains(threads({1, 2}).lock({.owner = 2, .held = true, .waiters = {{1, true}}}).snapshot()).empty());
}

TEST(LockGraphTest, OnlyAnSrwLockBlocksItsOwnHolder) {
  EXPECT_TRUE(lock_chains(threads({1}).monitor(0xA, 1, {1}).snapshot()).empty());
  const auto chains = lock_chains(
      threads({1}).lock({.kind = LockKind::srw_lock, .owner = 1, .held = true, .waiters = {{1, false}}}).snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].end, ChainEnd::cycle);
  EXPECT_EQ(chains[0].links.size(), 1u);
}

TEST(LockGraphTest, ContradictoryLocksDoNotLoop) {
  HangBuilder builder = threads({1, 1, 2});
  builder.monitor(0xA, 1, {1, 1, 2, 2, 99}).monitor(0xA, 2, {1, 2}).monitor(0xA, 99, {1});
  EXPECT_LE(lock_chains(builder.snapshot()).size(), 3u);
}

TEST(LockGraphTest, AHundredThousandInARow) {
  HangBuilder builder;
  for (std::uint32_t i = 1; i <= 100'000; ++i) {
    builder.snapshot().threads.emplace_back().os_id = i;
    if (i > 1) builder.monitor(i, i - 1, {i});
  }
  const auto chains = lock_chains(builder.snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].links.size(), 99'999u);
}

TEST(LockGraphTest, CirclesComeFirst) {
  HangBuilder builder = threads({1, 2, 3, 4, 5, 6, 7});
  builder.monitor(0xA, 1, {2, 3, 4, 5}).monitor(0xB, 6, {7}).monitor(0xC, 7, {6});
  const auto chains = lock_chains(builder.snapshot());
  ASSERT_EQ(chains.size(), 2u);
  EXPECT_EQ(chains[0].end, ChainEnd::cycle);
}

}  // namespace
}  // namespace mixwalk
