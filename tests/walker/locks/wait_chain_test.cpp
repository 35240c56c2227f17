#include "walker/locks/wait_chain.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/walker/target/standing_target.h"
#include "walker/hang/findings.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kProcess = 0x40, kWaiter = 0x10, kOwner = 0x20, kOther = 0x30;
using Chain = std::vector<WaitChainNode>;
using Locks = std::vector<Lock>;

WaitChainNode thread_node(std::uint32_t id, std::uint32_t process = kProcess) {
  return {.is_thread = true, .process_id = process, .thread_id = id, .kind = {}, .name = {}};
}
WaitChainNode object_node(std::optional<LockKind> kind, std::string name = {}) {
  return {.kind = kind, .name = std::move(name)};
}
Chain chain_to(std::uint32_t owner, LockKind kind, std::string name = {}) {
  return {thread_node(kWaiter), object_node(kind, std::move(name)), thread_node(owner)};
}

TEST(LockOfChain, NamesTheOwner) {
  EXPECT_EQ(lock_of_chain(chain_to(kOwner, LockKind::com_call), kProcess),
            (Lock{.kind = LockKind::com_call, .owner = kOwner, .held = true}));
  EXPECT_EQ(lock_of_chain(chain_to(kOwner, LockKind::mutex, "orders"), kProcess),
            (Lock{.kind = LockKind::mutex, .type = "orders", .owner = kOwner, .held = true}));
}

TEST(LockOfChain, OfALongChainIsTheFirstLock) {
  Chain chain = chain_to(kOwner, LockKind::mutex);
  chain.push_back(object_node(LockKind::thread_end));
  chain.push_back(thread_node(kOther));
  EXPECT_EQ(lock_of_chain(chain, kProcess), (Lock{.kind = LockKind::mutex, .owner = kOwner, .held = true}));
}

TEST(LockOfChain, AnOwnerInAnotherProcessIsNoThreadOfThisOne) {
  Chain chain = chain_to(kOwner, LockKind::mutex, "orders");
  chain[2].process_id = 7;
  EXPECT_EQ(lock_of_chain(chain, kProcess),
            (Lock{.kind = LockKind::mutex, .type = "orders, of thread 32 of process 7", .held = true}));
}

TEST(LockOfChain, WhatSaysNothing) {
  const auto nothing = [](const Chain& chain) { return !lock_of_chain(chain, kProcess).has_value(); };
  EXPECT_TRUE(nothing({}));
  EXPECT_TRUE(nothing({thread_node(kWaiter)})) << "a thread that runs";
  EXPECT_TRUE(nothing({thread_node(kWaiter), object_node(LockKind::mutex)})) << "nobody knows the owner";
  EXPECT_TRUE(nothing({thread_node(kWaiter), thread_node(kOwner), thread_node(kOther)}));
  EXPECT_TRUE(nothing({thread_node(kWaiter), object_node(LockKind::mutex), object_node(LockKind::mutex)}));
  EXPECT_TRUE(nothing({object_node(LockKind::mutex), object_node(LockKind::mutex), thread_node(kOwner)}));
  EXPECT_TRUE(nothing({thread_node(kWaiter), object_node({}), thread_node(kOwner)})) << "an object of an unknown kind";
  EXPECT_TRUE(nothing({thread_node(kWaiter), object_node(LockKind::mutex), thread_node(0)}));
}

// Three threads that are in a wait of the system.
class WaitChainTest : public testing::Test {
 protected:
  WaitChainTest() {
    snapshot.process.id = kProcess;
    target.live = true;
    for (const std::uint32_t id : {kWaiter, kOwner, kOther}) {
      target.listed.push_back({.os_id = id});
      target.memory_of.put(test::StandingTarget::kStack + id * 0x1'0000, std::uint64_t{id});
      Thread thread{.os_id = id};
      StackFrame frame;
      frame.address = test::StandingTarget::kRip;
      frame.stack_pointer = test::StandingTarget::kStack + id * 0x1'0000;
      thread.stack.frames = {frame};
      snapshot.threads.push_back(thread);
    }
  }
  Locks find() {
    add_wait_chains(snapshot, target, [this](std::uint32_t id) {
      asked.push_back(id);
      return chains[id];
    });
    return snapshot.locks;
  }

  test::StandingTarget target;
  Snapshot snapshot;
  std::map<std::uint32_t, Chain> chains;
  std::vector<std::uint32_t> asked;
};

TEST_F(WaitChainTest, BecomesALockWithItsWaiter) {
  chains[kWaiter] = chain_to(kOwner, LockKind::com_call);
  EXPECT_EQ(find(), (Locks{{.kind = LockKind::com_call, .owner = kOwner, .held = true, .waiters = {{kWaiter}}}}));
}

TEST_F(WaitChainTest, ANamedMutexIsOneForAllItsWaiters) {
  chains[kWaiter] = chain_to(kOwner, LockKind::mutex, "orders");
  chains[kOther] = chain_to(kOwner, LockKind::mutex, "orders");
  EXPECT_EQ(find(), (Locks{{.kind = LockKind::mutex, .type = "orders", .owner = kOwner, .held = true,
                            .waiters = {{kWaiter}, {kOther}}}}));
}

TEST_F(WaitChainTest, MutexesWithoutANameMayBeSeveral) {
  chains[kWaiter] = chain_to(kOwner, LockKind::mutex);
  chains[kOther] = chain_to(kOwner, LockKind::mutex);
  EXPECT_EQ(find().size(), 2u);
}

TEST_F(WaitChainTest, TwoMutexesThatAreOwnedCrosswiseAreADeadlock) {
  chains[kWaiter] = {thread_node(kWaiter), object_node(LockKind::mutex), thread_node(kOwner),
                     object_node(LockKind::mutex), thread_node(kWaiter)};
  chains[kOwner] = {thread_node(kOwner), object_node(LockKind::mutex), thread_node(kWaiter)};
  EXPECT_EQ(find().size(), 2u);
  const std::vector<std::string> files = {"orders"};
  const Findings findings = find_hangs({&snapshot, 1}, files);
  ASSERT_EQ(findings.findings.size(), 1u);
  EXPECT_EQ(findings.findings[0].kind, FindingKind::deadlock);
  EXPECT_EQ(findings.findings[0].title, "Deadlock of 2 threads");
}

TEST_F(WaitChainTest, AThreadWhoseLockIsKnownIsNotAskedAbout) {
  snapshot.locks = {
      {.kind = LockKind::monitor, .address = 0x1000, .owner = kOwner, .held = true, .waiters = {{kWaiter}}}};
  chains[kWaiter] = chain_to(kOwner, LockKind::critical_section);
  EXPECT_EQ(find().size(), 1u);
  EXPECT_EQ(asked, (std::vector<std::uint32_t>{kOwner, kOther}));
}

TEST_F(WaitChainTest, AThreadThatHasGoneOnWaitsForNothing) {
  chains[kWaiter] = chain_to(kOwner, LockKind::com_call);
  target.rip += 5;
  EXPECT_EQ(find(), Locks{});
}

TEST_F(WaitChainTest, AThreadThatGoesOnMeanwhileWaitsForNothing) {
  chains[kWaiter] = chain_to(kOwner, LockKind::com_call);
  int captures = 0;
  target.on_capture = [&] { target.registers[Register::rbx] = static_cast<std::uint64_t>(++captures); };
  EXPECT_EQ(find(), Locks{});
}

TEST_F(WaitChainTest, AnOwnerThatChangesIsNoOwner) {
  chains[kWaiter] = chain_to(kOwner, LockKind::mutex);
  target.on_capture = [&] { chains[kWaiter] = chain_to(kOther, LockKind::mutex); };
  EXPECT_EQ(find(), Locks{});
}

}  // namespace
}  // namespace mixwalk
