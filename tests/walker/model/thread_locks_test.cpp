#include "walker/model/thread_locks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/builders/snapshot_builder.h"

namespace mixwalk {
namespace {

TEST(ThreadLocks, WhatAThreadHolds) {
  const Snapshot snapshot = representative_snapshot();
  EXPECT_EQ(locks_held_by(snapshot, 0x1a4), std::vector<const Lock*>{&snapshot.locks[0]});
  EXPECT_EQ(locks_held_by(snapshot, 0x1a8), (std::vector<const Lock*>{&snapshot.locks[1], &snapshot.locks[3]}));
  EXPECT_TRUE(locks_held_by(snapshot, 0x1b0).empty());
  EXPECT_TRUE(locks_held_by(snapshot, 0).empty());  // no owner, or an unknown one
}

TEST(ThreadLocks, WhatAThreadWaitsFor) {
  const Snapshot snapshot = representative_snapshot();
  EXPECT_EQ(lock_waited_for_by(snapshot, 0x1a8).lock, &snapshot.locks[0]);
  EXPECT_FALSE(lock_waited_for_by(snapshot, 0x1a8).pulse);
  EXPECT_EQ(lock_waited_for_by(snapshot, 0x1ac).lock, &snapshot.locks[1]);
  EXPECT_TRUE(lock_waited_for_by(snapshot, 0x1ac).pulse);
  EXPECT_EQ(lock_waited_for_by(snapshot, 0x999).lock, nullptr);
}

TEST(ThreadLocks, AreInTheOrderOfTheirKinds) {
  Snapshot snapshot{.locks = {{.kind = LockKind::monitor, .address = 9}, {.kind = LockKind::thread_end, .address = 1}}};
  add_locks(snapshot, {{.kind = LockKind::semaphore, .address = 3}, {.kind = LockKind::monitor, .address = 5}});
  std::vector<std::pair<LockKind, std::uint64_t>> found;
  for (const Lock& lock : snapshot.locks) found.emplace_back(lock.kind, lock.address);
  std::vector<std::pair<LockKind, std::uint64_t>> expected = found;
  std::ranges::stable_sort(expected, {}, &std::pair<LockKind, std::uint64_t>::first);
  EXPECT_EQ(found, expected);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0], (std::pair{LockKind::monitor, std::uint64_t{9}}));
  EXPECT_EQ(found[1], (std::pair{LockKind::monitor, std::uint64_t{5}}));
}

}  // namespace
}  // namespace mixwalk
