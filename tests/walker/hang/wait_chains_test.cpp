#include "walker/hang/wait_chains.h"

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

std::vector<WaitChain> chains_of(const Snapshot& snapshot) {
  const WaitGraph graph(snapshot);
  return wait_chains(graph, std::vector<Outlook>(snapshot.threads.size(), Outlook::stands)).chains;
}

TEST(WaitChainsTest, NoLocksNoChains) { EXPECT_TRUE(chains_of(threads({1, 2}).snapshot()).empty()); }

TEST(WaitChainsTest, TwoThreadsCrossed) {
  const auto chains = chains_of(threads({1, 2}).monitor(0xA, 1, {2}).monitor(0xB, 2, {1}).snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].end, ChainEnd::cycle);
  ASSERT_EQ(chains[0].links.size(), 2u);
  EXPECT_EQ(chains[0].links[0], (WaitLink{0, 1, 1}));
  EXPECT_EQ(chains[0].links[1], (WaitLink{1, 0, 0}));
}

TEST(WaitChainsTest, ACircleOfFiveBeginsAtTheLowestId) {
  HangBuilder builder = threads({9, 7, 3, 5, 8});
  builder.monitor(0xA, 7, {9}).monitor(0xB, 3, {7}).monitor(0xC, 5, {3}).monitor(0xD, 8, {5}).monitor(0xE, 9, {8});
  const auto chains = chains_of(builder.snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].links.size(), 5u);
  EXPECT_EQ(builder.snapshot().threads[chains[0].links[0].thread].os_id, 3u);
}

TEST(WaitChainsTest, WhoWaitsForACircleIsBehindIt) {
  const auto chains =
      chains_of(threads({1, 2, 3, 4}).monitor(0xA, 1, {2, 3}).monitor(0xB, 2, {1}).monitor(0xC, 3, {4}).snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].links.size(), 2u);
  EXPECT_EQ(chains[0].waiters, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(WaitChainsTest, AChainNamesTheThreadAtItsEnd) {
  const auto chains = chains_of(threads({1, 2, 3, 4}).monitor(0xA, 1, {2, 4}).monitor(0xB, 2, {3}).snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].end, ChainEnd::thread);
  EXPECT_EQ(chains[0].holder, 0u);
  ASSERT_EQ(chains[0].links.size(), 2u);
  EXPECT_EQ(chains[0].links[0].thread, 2u);
  EXPECT_EQ(chains[0].links[1].thread, 1u);
  EXPECT_EQ(chains[0].waiters, (std::vector<std::uint32_t>{1, 2, 3}));
}

// Both wait for thread 1, one of them for its end. The order of threads differs from run to run.
TEST(WaitChainsTest, OfTwoWaitersTheOneThatWaitsForALockIsNamed) {
  for (const std::uint32_t joins : {2u, 3u}) {
    const auto chains = chains_of(
        threads({1, 2, 3})
            .monitor(0xA, 1, {5 - joins})
            .lock({.kind = LockKind::thread_end, .owner = 1, .held = true, .waiters = {{joins, false}}})
            .snapshot());
    ASSERT_EQ(chains.size(), 1u);
    ASSERT_EQ(chains[0].links.size(), 1u);
    EXPECT_EQ(chains[0].links[0].thread, 4 - joins) << joins;
    EXPECT_EQ(chains[0].waiters.size(), 2u);
  }
}

TEST(WaitChainsTest, AnOwnerThatIsNoThreadIsGone) {
  const auto chains = chains_of(threads({1, 2}).monitor(0xA, 77, {1, 2}).snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].end, ChainEnd::gone);
  EXPECT_EQ(chains[0].waiters.size(), 2u);
}

TEST(WaitChainsTest, AnOwnerThatNobodyCanName) {
  const auto chains =
      chains_of(threads({1})
                      .lock({.kind = LockKind::srw_lock, .address = 0xA, .held = true, .waiters = {{1, false}}})
                      .snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].end, ChainEnd::nobody);
}

TEST(WaitChainsTest, ALockThatNobodyHoldsHoldsNobodyUp) {
  EXPECT_TRUE(chains_of(threads({1}).monitor(0xA, 0, {1}).snapshot()).empty());
}

TEST(WaitChainsTest, AThreadThatWaitsForAPulseWaitsForNoOwner) {
  EXPECT_TRUE(chains_of(threads({1, 2}).lock({.owner = 2, .held = true, .waiters = {{1, true}}}).snapshot()).empty());
}

TEST(WaitChainsTest, OnlyAnSrwLockBlocksItsOwnHolder) {
  EXPECT_TRUE(chains_of(threads({1}).monitor(0xA, 1, {1}).snapshot()).empty());
  const auto chains = chains_of(
      threads({1}).lock({.kind = LockKind::srw_lock, .owner = 1, .held = true, .waiters = {{1, false}}}).snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].end, ChainEnd::cycle);
  EXPECT_EQ(chains[0].links.size(), 1u);
}

TEST(WaitChainsTest, ContradictoryLocksDoNotLoop) {
  HangBuilder builder = threads({1, 1, 2});
  builder.monitor(0xA, 1, {1, 1, 2, 2, 99}).monitor(0xA, 2, {1, 2}).monitor(0xA, 99, {1});
  EXPECT_LE(chains_of(builder.snapshot()).size(), 3u);
}

TEST(WaitChainsTest, AHundredThousandInARow) {
  HangBuilder builder;
  for (std::uint32_t i = 1; i <= 100'000; ++i) {
    builder.snapshot().threads.emplace_back().os_id = i;
    if (i > 1) builder.monitor(i, i - 1, {i});
  }
  const auto chains = chains_of(builder.snapshot());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].links.size(), 99'999u);
}

TEST(WaitChainsTest, CirclesComeFirst) {
  HangBuilder builder = threads({1, 2, 3, 4, 5, 6, 7});
  builder.monitor(0xA, 1, {2, 3, 4, 5}).monitor(0xB, 6, {7}).monitor(0xC, 7, {6});
  const auto chains = chains_of(builder.snapshot());
  ASSERT_EQ(chains.size(), 2u);
  EXPECT_EQ(chains[0].end, ChainEnd::cycle);
}

}  // namespace
}  // namespace mixwalk
